// Three calls through the types of openapi-typescript; prints what came back. Arguments: address and key of the gateway.
import createClient from 'openapi-fetch';
import type { paths } from './schema.js';

const [baseUrl = '', key = ''] = process.argv.slice(2);
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
if (typeof chat.data !== 'object') throw new Error(JSON.stringify(chat.error));
const [call] = chat.data.choices[0]?.message.tool_calls ?? [];

const song = await client.POST('/v1/music/generations', {
  body: { model: 'song-lyrics', prompt: 'A song about rain' },
});
if (song.data === undefined) throw new Error(song.error.error.code);
const task = await client.GET('/v1/tasks/{id}', {
  params: { path: { id: song.data.id }, header: { Prefer: 'wait=30' } },
});

const missing = await client.GET('/v1/models/{id}', { params: { path: { id: 'none' } } });
const code: 'model_not_found' | string | undefined = missing.error?.error.code;

console.log(
  JSON.stringify({
    bytes: audio?.byteLength,
    tool: call?.type === 'function' ? call.function.name : undefined,
    status: task.data?.status,
    code,
  }),
);
