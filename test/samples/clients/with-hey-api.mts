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
if (typeof chat.data !== 'object') throw new Error(JSON.stringify(chat.error));
const [call] = chat.data.choices[0]?.message.tool_calls ?? [];

const song = await createSong({ body: { model: 'song-lyrics', prompt: 'A song about rain' } });
if (song.data === undefined) throw new Error(song.error.error.code);
const task = await retrieveTask({ path: { id: song.data.id }, headers: { Prefer: 'wait=30' } });

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
    status: task.data?.status,
    code: missing.error?.error.code,
    text,
    uploads: uploads.map(({ response, error }) => error?.error.message ?? response?.status),
  }),
);
