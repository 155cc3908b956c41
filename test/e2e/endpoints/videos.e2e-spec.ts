import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN } from '../../support/admin-harness.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { VIDEO, VIDEO_PRICE, type Video, VideoHarness } from '../../support/video-harness.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

const CREDIT = 10_000_000n;
const UNKNOWN = `task_${'0'.repeat(32)}`;
const SLOW = 'The sea [[sandbox:task-ms=600000]]';

let gateway: GatewayFromOutside;
let harness: VideoHarness;

beforeAll(async () => {
  gateway = await sharedGateway();
  harness = await VideoHarness.open(gateway);
});
afterAll(() => gateway.stop());

async function expectNotFound(answer: Answer): Promise<void> {
  expect(answer.status).toBe(404);
  const unknown = await harness.get(`videos/${UNKNOWN}`);
  expect(answer.json).toEqual(unknown.json);
  expect(errorOf(answer)).toMatchObject({ code: 'task_not_found', param: 'id' });
}

/** The last request with images that the sandbox got: tasks of other tests may be submitted meanwhile. */
async function asked(): Promise<unknown> {
  const requests = (await gateway.upstreamRequests()) as { operation: string; body?: unknown }[];
  const bodies = requests
    .filter(({ operation }) => operation === 'video_create')
    .map(({ body }) => body as Record<string, unknown>);
  return bodies.find((body) => 'image_urls' in body);
}

describe('POST /v1/videos', () => {
  it('answers 200 with every key of a queued video, and its id in the head (VID-01, VID-02, CONV-11, G-57)', async () => {
    const answer = await harness.submit({ model: 'vid-omni', seconds: '10', size: '1280x720' });
    expect(answer.status).toBe(200);
    const video = answer.json as Video;
    expect(video).toEqual({
      id: expect.stringMatching(/^task_[0-9a-f]{32}$/),
      object: 'video',
      model: 'vid-omni',
      status: 'queued',
      progress: null,
      seconds: '10',
      size: '1280x720',
      created_at: expect.any(Number),
      completed_at: null,
      expires_at: null,
      error: null,
    });
    expect(answer.headers.get('x-gateway-task-id')).toBe(video.id);
    expect(Object.keys((await harness.read(video.id)) as object)).toEqual(Object.keys(video));
  });

  it('has no size where none was sent', async () => {
    expect(await harness.submitted()).not.toHaveProperty('size');
  });

  it.each([
    ['vid-motion', '5', 250_000n],
    ['vid-cine', '10', 500_000n],
    ['vid-motion', '15', 750_000n],
    ['vid-omni', '10', 500_000n],
  ])(
    'reserves the price of %s for %s seconds (VID-03, VID-10, G-26)',
    async (model, seconds, price) => {
      const buyer = await VideoHarness.open(gateway, price);
      const { id } = await buyer.submitted({ model, seconds, prompt: SLOW });
      expect(await buyer.balance()).toMatchObject({ available: 0n, held: price });
      expect((await buyer.read(id)).id).toBe(id);
    },
  );

  it('passes everything on under the upstream name of the model (VID-12, VID-15)', async () => {
    const image_urls = ['http://93.184.216.34/a.png', 'https://93.184.216.34/b.png?x=1'];
    const prompt = `${VIDEO.prompt} passed on`;
    await harness.made({ prompt, seconds: '10', aspect_ratio: '16:9', image_urls });
    const body = { model: 'vid-motion', prompt, seconds: '10', aspect_ratio: '16:9', image_urls };
    expect(await asked()).toEqual(body);
  });

  it('takes a form of text parts, as stock SDKs send it (VID-34, G-61)', async () => {
    const body = new FormData();
    const images = ['https://93.184.216.34/a.png', 'https://93.184.216.34/b.png'];
    for (const [name, value] of Object.entries(VIDEO)) body.append(name, value);
    for (const url of images) body.append('image_urls[]', url);
    const { headers } = harness.account;
    const answer = await send(`${gateway.url}/v1/videos`, { method: 'POST', headers, body });
    expect(answer.status).toBe(200);
    await harness.ended((answer.json as Video).id);
    expect(await asked()).toEqual({ ...VIDEO, image_urls: images });
  });

  it('answers the same video for the same idempotency key and body (VID-33, G-89)', async () => {
    const buyer = await VideoHarness.open(gateway, CREDIT);
    const key = { 'idempotency-key': 'once' };
    const { id } = await buyer.submitted({}, key);
    expect((await buyer.ended(id)).status).toBe('completed');
    const again = await buyer.submitted({}, key);
    expect(again).toMatchObject({ id, status: 'completed' });
    const other = await buyer.submit({ seconds: '10' }, key);
    expect([other.status, errorOf(other).code]).toEqual([409, 'idempotency_conflict']);
    expect((await buyer.balance()).available).toBe(CREDIT - VIDEO_PRICE);
  });
});

describe('a video', () => {
  it('goes from queued over in_progress to completed, never back (VID-23, VID-24, G-58)', async () => {
    const { id } = await harness.submitted({ prompt: 'The sea [[sandbox:task-ms=700]]' });
    const seen: string[] = [];
    let last = 'queued';
    while (last !== 'completed') {
      const read = await harness.read(`${id}?model=vid-motion`);
      expect(read).toMatchObject({ id, object: 'video', model: 'vid-motion' });
      last = read.status;
      if (seen.at(-1) !== last) seen.push(last);
    }
    expect(['queued', 'in_progress', 'completed'].filter((word) => seen.includes(word))).toEqual(
      seen,
    );
    expect(seen.slice(-2)).toEqual(['in_progress', 'completed']);
  });

  it('tells SDKs when to poll again until it is final', async () => {
    const { id } = await harness.submitted({ prompt: SLOW });
    const open = await harness.get(`videos/${id}`);
    expect(open.headers.get('openai-poll-after-ms')).toBe('10000');
    const done = await harness.get(`videos/${(await harness.made()).id}`);
    expect(done.headers.get('openai-poll-after-ms')).toBeNull();
  });

  it('is waited for with Prefer', async () => {
    const { id } = await harness.submitted({ prompt: 'The sea [[sandbox:task-ms=500]]' });
    const answer = await harness.get(`videos/${id}`, { prefer: 'wait=30' });
    expect(answer.headers.get('preference-applied')).toBe('wait=30');
    expect((answer.json as Video).status).toBe('completed');
  });

  it('whose outcome is unknown is waited for until an operator has decided', async () => {
    const { id } = await harness.submitted({ prompt: `${VIDEO.prompt}[[sandbox:lost-answer]]` });
    const reads = [`videos/${id}`, `tasks/${id}`];
    const waiting = reads.map((path) => harness.get(path, { prefer: 'wait=30' }));
    await harness.unknown(id);
    for (const path of reads) {
      const fromMs = performance.now();
      const answer = await harness.get(path, { prefer: 'wait=1' });
      expect(answer.json).toMatchObject({ status: 'in_progress' });
      expect(performance.now() - fromMs).toBeGreaterThan(900);
    }
    const shown = await send(`${gateway.url}/admin/tasks/${id}`, { headers: ADMIN });
    expect(shown.json).toMatchObject({
      status: 'in_progress',
      task_status: 'reconciliation_required',
    });
    const resolve = `${gateway.url}/admin/tasks/${id}/resolve`;
    expect((await postJson(resolve, ADMIN, { outcome: 'failed' })).status).toBe(200);
    for (const answer of await Promise.all(waiting)) {
      expect(answer.json).toMatchObject({ status: 'failed' });
    }
  });

  it('is settled once when it is completed (VID-29)', async () => {
    const buyer = await VideoHarness.open(gateway, CREDIT);
    const video = await buyer.made();
    expect(video).toMatchObject({ status: 'completed', progress: 100, error: null });
    expect(await buyer.balance()).toEqual({
      available: CREDIT - VIDEO_PRICE,
      held: 0n,
      entries: 2,
    });
  });

  it('is refunded when it fails, and says why (VID-30, ERR-37, G-85)', async () => {
    const buyer = await VideoHarness.open(gateway, CREDIT);
    const video = await buyer.made({ prompt: `${VIDEO.prompt}[[sandbox:task-fails]]` });
    expect(video).toMatchObject({
      status: 'failed',
      completed_at: expect.any(Number),
      expires_at: null,
      error: { code: 'provider_task_failed', message: expect.stringMatching(/./) },
    });
    expect(await buyer.balance()).toEqual({ available: CREDIT, held: 0n, entries: 1 });
    expect((await buyer.get(`tasks/${video.id}`)).json).toMatchObject({ cost: 0, result: null });
  });

  it('that is too large for the sandbox fails', async () => {
    const video = await harness.made({ model: 'vid-omni', seconds: '10', size: '4096x2304' });
    expect(video).toMatchObject({ status: 'failed', error: { code: 'provider_task_failed' } });
  });

  it('expires 14 days after its completion (LIMIT-15, VID-31)', async () => {
    const { id, completed_at: completedAt, expires_at: expiresAt } = await harness.made();
    expect(expiresAt).toBe(completedAt! + 1_209_600);
    await harness.age(id, 13);
    expect((await harness.content(id)).status).toBe(200);
    await harness.age(id, 1);
    const gone = await harness.content(id);
    expect([gone.status, errorOf(gone).code]).toEqual([410, 'content_expired']);
    expect((await harness.read(id)).status).toBe('completed');
  });

  it('is read with its model, without one, and refused with another (VID-25, G-59)', async () => {
    const { id } = await harness.made();
    for (const path of [`videos/${id}`, `videos/${id}/content`]) {
      expect((await harness.get(`${path}?model=vid-motion`)).status).toBe(200);
      expect((await harness.get(path)).status).toBe(200);
      const other = await harness.get(`${path}?model=vid-cine`);
      expect(other.status).toBe(400);
      expect(errorOf(other)).toMatchObject({
        code: 'invalid_request',
        type: 'invalid_request',
        param: 'model',
      });
    }
  });

  it('of another account is as unknown as one that never was (VID-28, AUTH-27, G-52)', async () => {
    const { id } = await harness.made();
    const stranger = await VideoHarness.open(gateway);
    for (const path of [`videos/${id}`, `videos/${id}/content`]) {
      await expectNotFound(await stranger.get(path));
    }
    for (const bad of [UNKNOWN, 'task_1', 'video_1', '%00', '%ff']) {
      await expectNotFound(await harness.get(`videos/${bad}`));
      await expectNotFound(await harness.get(`videos/${bad}/content`));
    }
  });

  it('is polled as often as anybody likes within the limit of reads (VID-32)', async () => {
    const account = await gateway.account(CREDIT, { requestsPerMinute: 60 });
    const poller = new VideoHarness(gateway, account);
    const { id } = await poller.submitted({ prompt: SLOW });
    // An hour of polls every 10 seconds, at once.
    for (let poll = 0; poll < 360; poll += 1) await poller.read(id);
  });
});
