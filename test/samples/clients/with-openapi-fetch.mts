// Calls through the types of openapi-typescript; prints what came back. Arguments: address and key of the gateway, a recording.
import { openAsBlob } from 'node:fs';
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const [baseUrl = '', key = '', recording = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${key}` } });

const speech = await client.POST('/v1/audio/speech', {
  body: { model: 'aud-v4', input: 'Hello', voice: 'Xb7hH8MSUJpSbSDYk0k2' },
  parseAs: 'arrayBuffer',
});
// The generator calls every binary body a string.
const audio = speech.data as unknown as ArrayBuffer | undefined;

const chat = await client.POST('/v1/chat/completions', {
  body: {
    model: 'gen-5-mini',
    messages: [{ role: 'user', content: 'Use get_weather for Riga' }],
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: {} } }],
    response_format: { type: 'text' },
  },
});
const [call] = chat.data?.choices[0]?.message.tool_calls ?? [];

const stream = await client.POST('/v1/chat/completions#stream', {
  body: { model: 'gen-5-mini', stream: true, messages: [{ role: 'user', content: 'Hello' }] },
  parseAs: 'stream',
});
const events = await new Response(stream.data as unknown as ReadableStream).text();
const streamed = [...events.matchAll(/^data: (\{.*)$/gm)]
  .map(([, event = '']) => JSON.parse(event) as components['schemas']['ChatChunkView'])
  .map(({ choices }) => choices[0]?.delta.content ?? '')
  .join('');

const song = await client.POST('/v1/music/generations', {
  body: { model: 'song-lyrics', prompt: 'A song about rain' },
});
if (song.data === undefined) throw new Error(song.error.error.code);
const task = await client.GET('/v1/tasks/{id}', {
  params: { path: { id: song.data.id }, header: { Prefer: 'wait=30' } },
});
const result =
  task.data && 'created_at' in task.data ? task.data.result : null;
const lyrics = result && 'lyrics' in result ? result.lyrics?.[0]?.text : undefined;

const missing = await client.GET('/v1/models/{id}', { params: { path: { id: 'none' } } });
const code: 'model_not_found' | string | undefined = missing.error?.error.code;

/** This client sends JSON unless it is told how to make a form. */
function formOf(body: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, value as string | Blob);
  return form;
}
const file = (await openAsBlob(recording)) as unknown as string;
const audio_url = `${baseUrl}/sandbox/media/recording.mp3`;
const heard = await client.POST('/v1/audio/transcriptions', {
  body: { model: 'aud-transcribe-v2', file, timestamps: 'word' },
  bodySerializer: formOf,
});
const text: string | undefined = heard.data?.text;
const uploads = [
  heard,
  await client.POST('/v1/audio/transcriptions', { body: { model: 'aud-transcribe-v2', audio_url } }),
];

console.log(
  JSON.stringify({
    bytes: audio?.byteLength,
    tool: call?.type === 'function' ? call.function.name : undefined,
    streamed,
    status: task.data?.status,
    lyrics,
    code,
    text,
    uploads: uploads.map(({ response, error }) => error?.error.message ?? response.status),
  }),
);
