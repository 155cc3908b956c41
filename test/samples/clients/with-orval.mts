// Calls through the client of orval; prints what came back. Arguments: address and key of the gateway, a recording.
import { openAsBlob } from 'node:fs';
import { configure } from './orval-fetch.js';
import {
  createAlignment,
  createChatCompletion,
  createIsolation,
  createSong,
  createSpeech,
  createTranscription,
  retrieveModel,
  retrieveTask,
  streamChatCompletion,
} from './orval/shim.js';

const [baseUrl = '', key = '', recording = ''] = process.argv.slice(2);
configure(baseUrl, key);

const speech = await createSpeech({ model: 'aud-v4', input: 'Hello', voice: 'Xb7hH8MSUJpSbSDYk0k2' });
const audio: Blob | undefined = speech.status === 200 ? speech.data : undefined;

const chat = await createChatCompletion({
  model: 'gen-5-mini',
  messages: [{ role: 'user', content: 'Use get_weather for Riga' }],
  tools: [{ type: 'function', function: { name: 'get_weather', parameters: {} } }],
  response_format: { type: 'text' },
});
if (chat.status !== 200) throw new Error(chat.data.error.code);
const [call] = chat.data.choices[0]?.message.tool_calls ?? [];

const stream = await streamChatCompletion({
  model: 'gen-5-mini',
  stream: true,
  messages: [{ role: 'user', content: 'Hello' }],
});
if (stream.status !== 200) throw new Error(stream.data.error.code);
const event = stream.data;
const streamed = typeof event === 'object' && 'choices' in event ? event.choices[0]?.delta.content : undefined;

const song = await createSong({ model: 'song-lyrics', prompt: 'A song about rain' });
if (song.status !== 202) throw new Error(song.data.error.code);
const task = await retrieveTask(song.data.id, { headers: { Prefer: 'wait=30' } });
if (task.status !== 200) throw new Error(task.data.error.code);
const result = 'created_at' in task.data ? task.data.result : null;
const lyrics = result && 'lyrics' in result ? result.lyrics?.[0]?.text : undefined;

const missing = await retrieveModel('none');

const file = await openAsBlob(recording);
const audio_url = `${baseUrl}/sandbox/media/recording.mp3`;
const heard = await createTranscription({ model: 'aud-transcribe-v2', file, timestamps: 'word' });
const text: string | undefined = heard.status === 200 ? heard.data.text : undefined;
const uploads = [
  heard,
  await createTranscription({ model: 'aud-transcribe-v2', audio_url }),
  await createAlignment({ model: 'aud-forced-alignment', file, text: 'true' }),
  await createIsolation({ model: 'aud-voice-isolator', file }),
];

console.log(
  JSON.stringify({
    bytes: audio?.size,
    tool: call?.type === 'function' ? call.function.name : undefined,
    streamed,
    status: task.data.status,
    lyrics,
    code: missing.status === 404 ? missing.data.error.code : undefined,
    text,
    uploads: uploads.map(({ status }) => status),
  }),
);
