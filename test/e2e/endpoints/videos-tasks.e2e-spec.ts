import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson } from '../../support/http-answer.js';
import { VIDEO_PRICE, type Video, VideoHarness } from '../../support/video-harness.js';

const CREDIT = 10_000_000n;
const TWINS = 20;
/** The shortest length that each model sells. */
const SECONDS: Readonly<Record<string, string>> = { 'vid-omni': '10' };

interface JsonBody {
  readonly examples: Readonly<Record<string, { readonly value: object }>>;
}

let gateway: TestGateway;

/** This gateway never sends a task to its provider. */
beforeAll(async () => {
  gateway = await startTestGateway({ TASK_TICK_MS: '86400000' });
});
afterAll(() => gateway.stop());

describe('every model of the list with compat-video', () => {
  it('is accepted by POST /v1/videos (MODELS-04)', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const { data } = (await harness.get('models')).json as {
      data: { id: string; supported_endpoint_types: string[] }[];
    };
    const models = data.filter((row) => row.supported_endpoint_types.includes('compat-video'));
    expect(models.map(({ id }) => id)).toEqual(['vid-omni', 'vid-motion', 'vid-cine']);
    for (const { id: model } of models) {
      const video = await harness.submitted({ model, seconds: SECONDS[model] ?? '5' });
      expect(video).toMatchObject({ model, status: 'queued' });
    }
  });
});

describe('the examples of POST /v1/videos in the OpenAPI document', () => {
  it('are accepted, and there is one for each family', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const document = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
      paths: Record<string, { post: { requestBody: { content: Record<string, JsonBody> } } }>;
    };
    const body = document.paths['/v1/videos']!.post.requestBody.content['application/json'];
    const examples = Object.values(body!.examples).map(({ value }) => value);
    const videos = await Promise.all(examples.map((example) => harness.submitted(example)));
    expect(videos.map(({ model }) => model)).toEqual(['vid-motion', 'vid-omni']);
  });
});

describe('a video that was not sent yet', () => {
  const cancel = (harness: VideoHarness, id: string) =>
    postJson(`${gateway.url}/v1/tasks/${id}/cancel`, harness.account.headers, '');

  it('is cancelled below /v1/tasks, refunded, and has failed on both reads (G-102)', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const { id } = await harness.submitted();
    expect(await harness.balance()).toMatchObject({ held: VIDEO_PRICE });
    const answer = await cancel(harness, id);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({
      object: 'task',
      status: 'failed',
      cost: 0,
      result: null,
      error: { code: 'task_cancelled' },
    });
    expect((await harness.get(`tasks/${id}`)).json).toEqual(answer.json);
    expect((await cancel(harness, id)).json).toEqual(answer.json);
    expect(await harness.read(id)).toMatchObject({
      status: 'failed',
      error: { code: 'task_cancelled' },
    });
    expect(await harness.balance()).toMatchObject({ available: CREDIT, held: 0n });
  });

  it('is in the list of tasks as it is read there, and found by its modality', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const { id } = await harness.submitted();
    const task = (await harness.get(`tasks/${id}`)).json;
    const listed = async (query: string) =>
      ((await harness.get(`tasks?${query}`)).json as { data: unknown[] }).data;
    expect(await listed('modality=video&status=queued')).toEqual([task]);
    expect(await listed('modality=audio')).toEqual([]);
  });

  it('is one for all submissions of one key at once (IDEM-08)', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const twins = Array.from({ length: TWINS }, () =>
      harness.submitted({}, { 'idempotency-key': 'k' }),
    );
    const ids = new Set((await Promise.all(twins)).map((video: Video) => video.id));
    expect(ids.size).toBe(1);
    expect(await harness.balance()).toMatchObject({ held: VIDEO_PRICE });
  });

  it('binds its key, which a refused request does not (IDEM-12)', async () => {
    const harness = await VideoHarness.open(gateway, VIDEO_PRICE);
    const key = { 'idempotency-key': 'k' };
    expect((await harness.submit({ seconds: '8' }, key)).status).toBe(400);
    expect((await harness.submit({ seconds: '10' }, key)).status).toBe(402);
    const { id } = await harness.submitted({}, key);
    expect((await harness.submitted({}, key)).id).toBe(id);
    const other = await harness.submit({ prompt: 'Other words' }, key);
    expect([other.status, errorOf(other).code]).toEqual([409, 'idempotency_conflict']);
  });

  it('is the same whether its key came with a form or with JSON', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const key = { 'idempotency-key': 'k' };
    const { id } = await harness.submitted({}, key);
    const body = new FormData();
    for (const [name, value] of Object.entries({ model: 'vid-motion', seconds: '5' }))
      body.append(name, value);
    body.append('prompt', 'The sea [[sandbox:task-ms=1]]');
    const answer = await fetch(`${gateway.url}/v1/videos`, {
      method: 'POST',
      headers: { ...harness.account.headers, ...key },
      body,
    });
    expect(await answer.json()).toMatchObject({ id });
  });
});
