import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { SANDBOX_API_KEY } from '../http/protocol.js';
import { SandboxServer } from '../sandbox-server.js';

const server = new SandboxServer();
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}/video/v1/videos`;
});
afterAll(() => server.close());

type Fields = Readonly<Record<string, unknown>>;
const headers = { authorization: `Bearer ${SANDBOX_API_KEY}` };
const REQUEST = { model: 'vid-motion', prompt: 'The sea', seconds: '5', aspect_ratio: '16:9' };

const post = (fields: Fields): Promise<Response> =>
  fetch(base, { method: 'POST', headers, body: JSON.stringify(fields) });
const get = (path: string): Promise<Response> => fetch(`${base}/${path}`, { headers });
const jsonOf = async (answer: Response): Promise<Fields> => (await answer.json()) as Fields;

async function created(fields: Fields): Promise<string> {
  const answer = await post({ ...REQUEST, ...fields });
  expect(answer.status).toBe(200);
  return (await jsonOf(answer)).id as string;
}

async function finished(fields: Fields): Promise<Fields> {
  const id = await created(fields);
  for (;;) {
    const video = await jsonOf(await get(id));
    if (video.status === 'completed' || video.status === 'failed') return video;
    await sleep(20);
  }
}

async function sizeOf(bytes: ArrayBuffer): Promise<unknown> {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  try {
    const track = await input.getPrimaryVideoTrack();
    return [
      await track?.getDisplayWidth(),
      await track?.getDisplayHeight(),
      await input.computeDuration(),
    ];
  } finally {
    input.dispose();
  }
}

describe('a video of the sandbox', () => {
  it('is a queued job first, with everything it was asked for', async () => {
    const video = await jsonOf(await post(REQUEST));
    expect(video).toEqual({
      id: expect.any(String),
      object: 'video',
      model: 'vid-motion',
      status: 'queued',
      progress: expect.any(Number),
      created_at: expect.any(Number),
      completed_at: null,
      expires_at: null,
      prompt: 'The sea',
      size: '640x360',
      seconds: '5',
      remixed_from_video_id: null,
      error: null,
    });
  });

  it.each([
    [{ aspect_ratio: '16:9' }, [640, 360, 5]],
    [{ aspect_ratio: '9:16', seconds: '10' }, [360, 640, 10]],
    [{ aspect_ratio: '1:1', seconds: '15' }, [640, 640, 15]],
    [{ aspect_ratio: undefined, size: '333x201' }, [333, 201, 5]],
    [{ aspect_ratio: undefined }, [1280, 720, 5]],
    [{ aspect_ratio: '9:16', resolution: '480p', audio: true }, [480, 854, 5]],
  ])('of %j is an MP4 of that size and length', async (fields, expected) => {
    const video = await finished({ ...fields, prompt: 'The sea [[sandbox:task-ms=1]]' });
    expect(video).toMatchObject({ status: 'completed', progress: 100, error: null });
    const answer = await get(`${String(video.id)}/content`);
    expect(answer.headers.get('content-type')).toBe('video/mp4');
    expect(await sizeOf(await answer.arrayBuffer())).toEqual(expected);
  });

  it('that is larger than 1920 x 1080 fails', async () => {
    const size = { aspect_ratio: undefined, size: '1936x1080' };
    const video = await finished({ ...size, prompt: '[[sandbox:task-ms=1]]' });
    expect(video).toMatchObject({ status: 'failed', error: { code: 'generation_failed' } });
    expect((await get(`${String(video.id)}/content`)).status).toBe(400);
  });

  it('comes by a redirect when it is asked to', async () => {
    const video = await finished({ prompt: '[[sandbox:task-ms=1]][[sandbox:url]]' });
    const answer = await get(`${String(video.id)}/content`);
    expect([answer.redirected, answer.status]).toEqual([true, 200]);
    expect(answer.url).toMatch(/\/media\/\w+\.mp4$/);
  });

  it.each([
    ['[[sandbox:file=404]]', 404],
    ['[[sandbox:no-result]]', 404],
  ])('has no file under %s', async (prompt, status) => {
    const video = await finished({ prompt: `${prompt}[[sandbox:task-ms=1]]` });
    expect(video.status).toBe('completed');
    expect((await get(`${String(video.id)}/content`)).status).toBe(status);
  });

  it('has no file before its time, and an unknown one is 404', async () => {
    const id = await created({});
    expect((await get(`${id}/content`)).status).toBe(400);
    expect((await get('nobody')).status).toBe(404);
    expect((await get('nobody/content')).status).toBe(404);
  });

  it.each([
    ['model', { model: undefined }],
    ['prompt', { prompt: ' ' }],
    ['seconds', { seconds: 5 }],
    ['seconds', { seconds: '61' }],
    ['size', { aspect_ratio: undefined, size: '0x10' }],
    ['aspect_ratio', { aspect_ratio: 'wide' }],
    ['image_urls', { image_urls: ['no url'] }],
    ['first_frame_url', { first_frame_url: 'no url' }],
    ['last_frame_url', { last_frame_url: 7 }],
    ['resolution', { resolution: 'big' }],
    ['audio', { audio: 'yes' }],
    ['fps', { fps: 24 }],
  ])('refuses a bad %s: %j', async (param, fields) => {
    const answer = await post({ ...REQUEST, ...fields });
    expect(answer.status).toBe(400);
    expect(await jsonOf(answer)).toMatchObject({ error: { param } });
  });
});
