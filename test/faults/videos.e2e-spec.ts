import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
import { type Resolution, TaskResolution } from '../../src/tasks/completion/task-resolution.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { errorOf } from '../support/http-answer.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { BRISK, VIDEO_PRICE, type Video, VideoHarness } from '../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const CREDIT = 10_000_000n;
const KEY = 'sk-video-upstream-4711';
const QUICK = '[[sandbox:task-ms=1]]';
/** Longer than everything that is left to do when an outcome is final. */
const QUIET_MS = 500;

let receiver: WebhookReceiver;
let gateway: TestGateway;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  gateway = await startTestGateway({ ...BRISK, ...receiver.settings, TASK_DEADLINE_MS: '600000' });
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

const deliveriesOf = ({ id }: Pick<Video, 'id'>) =>
  receiver.received
    .map(({ body }) => JSON.parse(body.toString()) as { id: string; status: string })
    .filter((task) => task.id === id);

/** Waits until the outcome of a video is known to be unknown. */
async function untilUnknown(at: TestGateway, { id }: Pick<Video, 'id'>): Promise<void> {
  const uuid = id.slice('task_'.length);
  for (;;) {
    const rows = await at.dataSource.query<{ status: string }[]>(
      'SELECT status FROM task WHERE id = $1::uuid',
      [uuid],
    );
    const status = rows[0]?.status ?? '';
    if (status === 'reconciliation_required') return;
    if (['failed', 'expired', 'succeeded'].includes(status)) throw new Error(`it has ${status}`);
    await sleep(50);
  }
}

async function untilDelivered(video: Pick<Video, 'id'>): Promise<{ status: string }[]> {
  while (deliveriesOf(video).length === 0) await receiver.until(receiver.received.length + 1);
  await sleep(QUIET_MS);
  return deliveriesOf(video);
}

/** The decision of an operator about a video. */
function resolve({ id }: Pick<Video, 'id'>, resolution: Resolution): Promise<unknown> {
  const uuid = fromPublicId('task', id)!;
  return gateway.app.get(TaskResolution, { strict: false }).resolve(uuid, resolution);
}

describe('a video whose outcome is unknown', () => {
  it.each([
    ['its submission was answered with a page', '[[sandbox:html]]'],
    ['its submission was cut off', '[[sandbox:reset]]'],
    ['its file is gone when it is to be stored', `${QUICK}[[sandbox:file=404]]`],
    ['its file is a page', `${QUICK}[[sandbox:file=html]]`],
  ])(
    'because %s stays in progress on both reads, untold, its hold kept, until it is resolved (G-58)',
    async (_why, words) => {
      const harness = await VideoHarness.open(gateway, CREDIT);
      const video = await harness.submitted({ prompt: `The sea ${words}`, webhook: receiver.url });
      await untilUnknown(gateway, video);
      await sleep(QUIET_MS);
      const open = { status: 'in_progress', error: null };
      expect(await harness.read(video.id)).toMatchObject({ ...open, completed_at: null });
      const task = (await harness.get(`tasks/${video.id}`)).json;
      expect(task).toMatchObject({ ...open, completed: null, cost: null, result: null });
      expect((await harness.content(video.id)).status).toBe(409);
      expect(deliveriesOf(video)).toEqual([]);
      expect(await harness.balance()).toMatchObject({ held: VIDEO_PRICE });
      await resolve(video, { outcome: 'failed' });
      expect(await untilDelivered(video)).toMatchObject([{ status: 'failed' }]);
      expect(await harness.read(video.id)).toMatchObject({ status: 'failed' });
      expect(await harness.balance()).toMatchObject({ available: CREDIT, held: 0n });
    },
  );

  it('that an operator settles is completed and charged, without a file', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const video = await harness.submitted({
      prompt: 'The sea [[sandbox:html]]',
      webhook: receiver.url,
    });
    await untilUnknown(gateway, video);
    await resolve(video, { outcome: 'succeeded', chargedMicroUsd: 100_000n });
    expect(await untilDelivered(video)).toMatchObject([{ status: 'completed', cost: 0.1 }]);
    expect(await harness.balance()).toMatchObject({ available: CREDIT - 100_000n, held: 0n });
    const content = await harness.content(video.id);
    expect([content.status, errorOf(content).code]).toEqual([404, 'content_not_available']);
  });
});

describe('a video', () => {
  it.each(['503', 'break-body'])('whose file fails at first (%s) is completed', async (fault) => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const prompt = `The sea ${QUICK}[[sandbox:file=${fault}]][[sandbox:files=2]]`;
    const { id, status } = await harness.made({ prompt });
    expect(status).toBe('completed');
    expect((await harness.content(id)).bytes.toString('latin1', 4, 8)).toBe('ftyp');
  });

  it('that the provider rejects fails, is refunded and reported once', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const prompt = 'The sea [[sandbox:status=400]][[sandbox:code=moderation_blocked]]';
    const video = await harness.submitted({ prompt, webhook: receiver.url });
    expect(await harness.ended(video.id)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_task_failed' },
    });
    expect(await untilDelivered(video)).toMatchObject([{ status: 'failed', cost: 0 }]);
    expect(await harness.balance()).toMatchObject({ available: CREDIT, held: 0n });
  });

  it('that is not done by the deadline has failed as expired, is refunded and reported once (G-58)', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const prompt = 'The sea [[sandbox:task-ms=600000]]';
    const video = await harness.submitted({ prompt, webhook: receiver.url });
    await harness.age(video.id, 1);
    expect(await harness.ended(video.id)).toMatchObject({
      status: 'failed',
      error: { code: 'expired', message: expect.stringMatching(/./) },
      completed_at: expect.any(Number),
    });
    expect(await untilDelivered(video)).toMatchObject([
      { status: 'failed', cost: 0, result: null, error: { code: 'expired' } },
    ]);
    expect(await harness.balance()).toMatchObject({ available: CREDIT, held: 0n });
  });

  it('comes from the files of the sandbox where it redirects to them', async () => {
    const harness = await VideoHarness.open(gateway, CREDIT);
    const { id } = await harness.made({ prompt: `The sea ${QUICK}[[sandbox:url]]` });
    expect((await harness.content(id)).headers.get('content-type')).toBe('video/mp4');
  });
});

describe('a provider that redirects to the file', () => {
  let provider: StubUpstream;
  let host: StubUpstream;
  let redirected: TestGateway;
  let file: Buffer;

  beforeAll(async () => {
    [provider, host] = [await StubUpstream.start(), await StubUpstream.start()];
    file = await drawVideo({ prompt: 'From afar', width: 64, height: 48, seconds: 1 });
    host.reply = (response) => response.end(file);
    redirected = await startTestGateway({
      ...BRISK,
      SANDBOX: 'off',
      VIDEO_API_KEY: KEY,
      VIDEO_BASE_URL: `${provider.url}/v1`,
      EGRESS_ALLOW: new URL(host.url).host,
    });
  });
  afterAll(async () => {
    await redirected.stop();
    await Promise.all([provider.stop(), host.stop()]);
  });

  const sendsTo = (location: string): void => {
    provider.reply = (response, { method, url }) => {
      if (url.endsWith('/content')) response.writeHead(302, { location }).end();
      else
        response.end(
          JSON.stringify({ id: 'v1', status: method === 'POST' ? 'queued' : 'completed' }),
        );
    };
  };

  it('gets our key, the host it names does not (G-60)', async () => {
    sendsTo(`${host.url}/signed?x=1`);
    const harness = await VideoHarness.open(redirected, CREDIT);
    const { id } = await harness.made();
    expect((await harness.content(id)).bytes.equals(file)).toBe(true);
    expect(provider.seen.every(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(
      true,
    );
    expect(host.seen.map(({ url }) => url)).toEqual(['/signed?x=1']);
    expect(JSON.stringify(host.seen[0]?.headers)).not.toContain(KEY);
    expect(host.seen[0]?.headers).not.toHaveProperty('authorization');
  });

  it('does not lead the gateway to a private address', async () => {
    const inside = await StubUpstream.start();
    try {
      sendsTo(`${inside.url}/admin`);
      const harness = await VideoHarness.open(redirected, CREDIT);
      const video = await harness.submitted();
      await untilUnknown(redirected, video);
      expect(inside.seen).toEqual([]);
      expect(await harness.balance()).toMatchObject({ held: VIDEO_PRICE });
    } finally {
      await inside.stop();
    }
  });
});
