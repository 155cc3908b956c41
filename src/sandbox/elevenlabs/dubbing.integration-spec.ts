import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { probeTracks } from '../../../test/support/media-probe.js';
import { mp4File } from '../media/mp4-file.js';
import { SANDBOX_API_KEY } from '../http/protocol.js';
import { SandboxServer } from '../sandbox-server.js';
import { drawVideo } from '../video/drawn-video.js';

const server = new SandboxServer();
let base = '';
let source: Buffer = Buffer.alloc(0);
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}/elevenlabs/v1`;
  source = await speech('The words of the source.');
});
afterAll(() => server.close());

const headers = { 'xi-api-key': SANDBOX_API_KEY };

async function speech(text: string): Promise<Buffer> {
  const answer = await fetch(`${base}/text-to-speech/pNInz6obpgDQGcFmaJgB`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ text }),
  });
  return Buffer.from(await answer.arrayBuffer());
}

function submit(
  fields: Record<string, string>,
  file = source,
  fileName = 'source.mp3',
): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(file)]), fileName);
  return fetch(`${base}/dubbing`, { method: 'POST', headers, body: form });
}

async function submitted(words: string, file = source): Promise<string> {
  const answer = await submit({ target_lang: 'de', name: `a dub ${words}` }, file);
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { dubbing_id: string }).dubbing_id;
}

const get = (path: string): Promise<Response> => fetch(`${base}/dubbing/${path}`, { headers });

async function stateOf(id: string): Promise<Record<string, unknown>> {
  return (await (await get(id)).json()) as Record<string, unknown>;
}

const secondsOf = (media: Buffer): Promise<number> =>
  new Input({ source: new BufferSource(media), formats: ALL_FORMATS }).computeDuration();

describe('/v1/dubbing', () => {
  it('prepares, dubs and is done', async () => {
    const id = await submitted('[[sandbox:task-ms=400]]');
    const seen = new Set<unknown>();
    while (!seen.has('dubbed')) {
      seen.add((await stateOf(id)).status);
      await sleep(10);
    }
    const order = ['queued', 'preparing', 'dubbing', 'dubbed'];
    expect([...seen]).toEqual(order.filter((status) => seen.has(status)));
  });

  it('dubs a recording into a file of the same length', async () => {
    const id = await submitted('[[sandbox:task-ms=0]]');
    expect(await stateOf(id)).toMatchObject({
      status: 'dubbed',
      source_language: 'en',
      target_languages: ['de'],
    });
    const answer = await get(`${id}/audio/de`);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    const file = Buffer.from(await answer.arrayBuffer());
    expect(Math.abs((await secondsOf(file)) - (await secondsOf(source)))).toBeLessThan(0.1);
    const tracks = probeTracks(file);
    if (tracks) expect(tracks).toMatchObject([{ codec_name: 'mp3' }]);
    expect((await fetch(`${base}/dubbing/${id}`, { method: 'DELETE', headers })).status).toBe(200);
    expect((await get(id)).status).toBe(404);
  });

  it('dubs a video: its pictures with another sound', async () => {
    const pictures = await drawVideo({ prompt: 'A film', width: 64, height: 48, seconds: 2 });
    const video = (await mp4File(source, pictures)) ?? pictures;
    const id = await submitted('[[sandbox:task-ms=0]]', video);
    expect(await stateOf(id)).toMatchObject({ media_metadata: { content_type: 'video/mp4' } });
    const answer = await get(`${id}/audio/de`);
    expect(answer.headers.get('content-type')).toBe('video/mp4');
    const file = Buffer.from(await answer.arrayBuffer());
    expect(Math.abs((await secondsOf(file)) - (await secondsOf(source)))).toBeLessThan(0.5);
    expect(file.equals(video)).toBe(false);
    // The names of the two sample formats, wherever ffprobe is missing.
    for (const format of ['avc1', 'mp4a']) expect(file.includes(format, 0, 'latin1')).toBe(true);
    const tracks = probeTracks(file);
    if (tracks) expect(tracks.map((track) => track.codec_name).sort()).toEqual(['h264', 'mp3']);
  });

  it('refuses a language it does not speak', async () => {
    expect((await submit({ target_lang: 'xx' })).status).toBe(400);
  });
});

describe('a dub told to misbehave', () => {
  it('is not ready before its time', async () => {
    const id = await submitted('[[sandbox:task-ms=60000]]');
    expect((await get(`${id}/audio/de`)).status).toBe(425);
  });

  it('fails, and succeeds later', async () => {
    const words = '[[sandbox:task-ms=0]][[sandbox:task-fails]]';
    expect(await stateOf(await submitted(words))).toMatchObject({ status: 'failed' });
    const late = await submitted(`${words}[[sandbox:late-success=5000]]`);
    expect(await stateOf(late)).toMatchObject({ status: 'failed' });
    while ((await stateOf(late)).status !== 'dubbed') await sleep(50);
  });

  it('reports an unknown state', async () => {
    const id = await submitted('[[sandbox:task-state=pondering]]');
    expect(await stateOf(id)).toMatchObject({ status: 'pondering' });
  });

  it('obeys the words in the name of the file', async () => {
    const name = 'talk-%5B%5Bsandbox:task-state=listening%5D%5D.mp3';
    const answer = await submit({ target_lang: 'de', name: 'plain' }, source, name);
    const { dubbing_id: id } = (await answer.json()) as { dubbing_id: string };
    expect(await stateOf(id)).toMatchObject({ status: 'listening' });
  });

  it('spoils so many polls, then tells its state', async () => {
    const id = await submitted('[[sandbox:poll=503]][[sandbox:polls=2]]');
    const statuses = [await get(id), await get(id), await get(id)].map(({ status }) => status);
    expect(statuses).toEqual([503, 503, 200]);
  });

  it.each(['html', 'json', 'empty'])('answers a poll with %s', async (fault) => {
    const id = await submitted(`[[sandbox:poll=${fault}]]`);
    expect(await (await get(id)).text()).not.toContain(id);
  });

  it.each(['reset', 'break-body'])('breaks a poll by %s', async (fault) => {
    const id = await submitted(`[[sandbox:poll=${fault}]]`);
    await expect(get(id).then((answer) => answer.text())).rejects.toThrow();
  });

  it('loses its file', async () => {
    const id = await submitted('[[sandbox:task-ms=0]][[sandbox:file=404]][[sandbox:files=1]]');
    const statuses = [await get(`${id}/audio/de`), await get(`${id}/audio/de`)];
    expect(statuses.map(({ status }) => status)).toEqual([404, 200]);
  });

  it('succeeds with nothing to show', async () => {
    const id = await submitted('[[sandbox:task-ms=0]][[sandbox:no-result]]');
    expect(await stateOf(id)).toMatchObject({ status: 'dubbed', media_metadata: null });
    expect((await (await get(`${id}/audio/de`)).arrayBuffer()).byteLength).toBe(0);
  });

  it('is accepted although its answer is lost, and counted when it is sent again', async () => {
    const fields = { target_lang: 'de', name: 'twice [[sandbox:lost-answer]]' };
    await expect(submit(fields)).rejects.toThrow();
    await expect(submit(fields)).rejects.toThrow();
    const jobs = server.lastJobs().filter(({ label }) => label === fields.name);
    expect(jobs.map(({ submissions }) => submissions)).toEqual([2, 2]);
  });

  it('is not accepted where the connection is cut before', async () => {
    const fields = { target_lang: 'de', name: 'never [[sandbox:reset]]' };
    await expect(submit(fields)).rejects.toThrow();
    expect(server.lastJobs().filter(({ label }) => label === fields.name)).toEqual([]);
  });
});
