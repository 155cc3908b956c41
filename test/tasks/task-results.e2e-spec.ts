import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DubbingHarness } from '../support/dubbing-harness.js';
import { ADMIN_TOKEN } from '../support/gateway.js';
import { type Answer, postJson, send } from '../support/http-answer.js';

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
/** No task is sent, so a test may say what became of it. */
const SETTINGS = { TASK_TICK_MS: '86400000' };
const DUB = {
  urls: [],
  target_language: 'fr',
  source_language: null,
  content_type: null,
  has_video: null,
  duration_seconds: null,
};
const SONG = { model: 'song-music', prompt: 'The sea', instrumental: false };
const VIDEO = { model: 'vid-motion', prompt: 'The sea', seconds: '5' };

let harness: DubbingHarness;

beforeAll(async () => {
  harness = await DubbingHarness.open(SETTINGS);
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

const get = (path: string) => send(`${harness.gateway.url}/v1/${path}`, harness.account);
const resolve = (id: string, result?: object): Promise<Answer> =>
  postJson(`${harness.gateway.url}/admin/tasks/${id}/resolve`, ADMIN, {
    outcome: 'succeeded',
    ...(result && { result }),
  });

/** A task of that path whose outcome nobody knows. */
async function unknown(path: string, body: object): Promise<string> {
  const answer = await postJson(`${harness.gateway.url}/v1/${path}`, harness.account.headers, body);
  expect(answer.status < 300 ? '' : answer.bytes.toString()).toBe('');
  await harness.gateway.dataSource.query(
    `UPDATE task SET status = 'reconciliation_required', completed_at = now() WHERE account_id = $1`,
    [harness.account.accountId],
  );
  return (answer.json as { id: string }).id;
}
const dub = () =>
  unknown('audio/dubbing', {
    model: 'aud-dubbing-v1',
    source_url: harness.source(),
    target_language: 'fr',
  });
const song = () => unknown('music/generations', SONG);
const video = () => unknown('videos', VIDEO);

describe('a task resolved as succeeded without a result', () => {
  it('shows a dub of which nothing is known, and has no file', async () => {
    const id = await dub();
    expect((await resolve(id)).status).toBe(200);
    const { status, json } = await get(`tasks/${id}`);
    expect({ status, json }).toMatchObject({
      status: 200,
      json: { status: 'succeeded', result: { ...DUB, content_path: `/v1/tasks/${id}/content` } },
    });
    const content = await get(`tasks/${id}/content`);
    expect(content).toMatchObject({
      status: 404,
      json: { error: { code: 'content_not_available' } },
    });
  });

  it('shows a completed video on both paths, and has no file', async () => {
    const id = await video();
    expect((await resolve(id)).status).toBe(200);
    expect(await get(`videos/${id}`)).toMatchObject({ status: 200, json: { status: 'completed' } });
    expect(await get(`tasks/${id}`)).toMatchObject({
      status: 200,
      json: { status: 'completed', result: { videos: [] }, cost: 0.25 },
    });
    expect(await get(`videos/${id}/content`)).toMatchObject({
      status: 404,
      json: { error: { code: 'content_not_available' } },
    });
  });

  it('shows a song without URLs', async () => {
    const id = await song();
    expect((await resolve(id)).status).toBe(200);
    expect((await get(`tasks/${id}`)).json).toMatchObject({ result: { urls: [] } });
  });
});

describe('the result that an operator gives', () => {
  it('completes that of a dub', async () => {
    const id = await dub();
    const given = { source_language: 'en', content_type: 'video/mp4', duration_seconds: 1.5 };
    const { json } = await resolve(id, given);
    expect(json).toMatchObject({ result: { ...DUB, ...given, has_video: true } });
  });

  it('is that of a song', async () => {
    const id = await song();
    const url = 'https://media.example/a.mp3';
    const result = { urls: [url], tracks: [{ index: 1, audio_url: url, duration_seconds: 9.5 }] };
    expect((await resolve(id, result)).json).toMatchObject({ result });
  });

  it.each<[string, () => Promise<string>, object[]]>([
    [
      'a dub',
      dub,
      [
        { content_type: 5 },
        { duration_seconds: '1.5' },
        { target_language: 'de' },
        { has_video: true },
        { urls: ['https://media.example/a.mp3'] },
        { tracks: [] },
      ],
    ],
    [
      'a song',
      song,
      [
        { urls: 'https://media.example/a.mp3' },
        { urls: [5] },
        { tracks: [{ audio_url: 'https://media.example/a.mp3' }] },
        { tracks: [{ index: 0 }] },
        { tracks: [{ index: 1, title: 5 }] },
        { bpm: 90 },
        { toString: 'x' },
      ],
    ],
    ['a video', video, [{ videos: [] }, { url: 'https://media.example/a.mp4' }]],
  ])('is refused where it is none of %s, and the task waits on', async (_what, make, results) => {
    const id = await make();
    for (const result of results) {
      const { status, json } = await resolve(id, result);
      expect({ result, status, json }).toMatchObject({
        result,
        status: 400,
        json: { error: { code: 'invalid_request', param: 'result' } },
      });
    }
    expect((await resolve(id)).status).toBe(200);
  });
});
