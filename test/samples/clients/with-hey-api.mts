// Calls through the client of @hey-api/openapi-ts; prints what came back. Arguments: address and key of the gateway, a recording.
import { openAsBlob } from 'node:fs';
import { client } from './hey-api/client.gen.js';
import {
  createAlignment,
  createChatCompletion,
  createIsolation,
  createSong,
  createSpeech,
  createTranscription,
  createVideo,
  createVoiceChange,
  retrieveModel,
  retrieveTask,
  streamChatCompletion,
} from './hey-api/sdk.gen.js';

const [baseUrl = '', key = '', recording = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, auth: key });

const speech = await createSpeech({ body: { model: 'aud-v4', input: 'Hello', voice: 'Xb7hH8MSUJpSbSDYk0k2' } });
const audio: Blob | File | undefined = speech.data;

const chat = await createChatCompletion({
  body: {
    model: 'gen-5-mini',
    messages: [{ role: 'user', content: 'Use get_weather for Riga' }],
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: {} } }],
    response_format: { type: 'text' },
  },
});
const [call] = chat.data?.choices[0]?.message.tool_calls ?? [];

const { stream } = await streamChatCompletion({
  body: { model: 'gen-5-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
});
let streamed = '';
for await (const event of stream) {
  if (event === '[DONE]') break;
  if ('error' in event) throw new Error(event.error.code);
  streamed += event.choices[0]?.delta.content ?? '';
}

const song = await createSong({ body: { model: 'song-lyrics', prompt: 'A song about rain' } });
if (song.data === undefined) throw new Error(song.error.error.code);
const task = await retrieveTask({ path: { id: song.data.id }, headers: { Prefer: 'wait=30' } });
const result =
  task.data && 'created_at' in task.data ? task.data.result : null;
const lyrics = result && 'lyrics' in result ? result.lyrics?.[0]?.text : undefined;

const missing = await retrieveModel({ path: { id: 'none' } });

const file = await openAsBlob(recording);
const audio_url = `${baseUrl}/sandbox/media/recording.mp3`;
const heard = await createTranscription({
  body: { model: 'aud-transcribe-v2', file, diarize: true, num_speakers: 2, timestamps: 'word' },
});
const text: string | undefined = heard.data?.text;
const uploads = [
  heard,
  await createTranscription({
    body: {
      model: 'aud-transcribe-v2',
      file,
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    },
  }),
  await createTranscription({ body: { model: 'aud-transcribe-v2', audio_url } }),
  await createAlignment({ body: { model: 'aud-forced-alignment', file, text: 'true' } }),
  await createVoiceChange({ body: { model: 'aud-multilingual-sts-v2', file, voice: 'Adam' } }),
  await createIsolation({ body: { model: 'aud-voice-isolator', file } }),
  await createVideo({ body: { model: 'vid-motion', prompt: 'The sea', seconds: '5' } }),
];

console.log(
  JSON.stringify({
    bytes: audio?.size,
    tool: call?.type === 'function' ? call.function.name : undefined,
    streamed,
    status: task.data?.status,
    lyrics,
    code: missing.error?.error.code,
    text,
    uploads: uploads.map(({ response, error }) => error?.error.message ?? response?.status),
  }),
);
