import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { AdminHarness } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';
import { BRISK, VIDEO_PRICE, VideoHarness } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const CREDIT = 1_000_000n;

let harness: AdminHarness;
let receiver: WebhookReceiver;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  harness = await AdminHarness.start(await startTestGateway({ ...BRISK, ...receiver.settings }));
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

it('shows the holder of a video what was given back of it, and leaves what was told as it was', async () => {
  const videos = await VideoHarness.open(harness.gateway, CREDIT);
  const video = await videos.made({ webhook: receiver.url });
  const before = (await videos.get(`tasks/${video.id}`)).json as object;
  expect(before).not.toHaveProperty('refunded_microusd');
  const [sent] = await receiver.until(1);
  expect(JSON.parse(String(sent?.body))).toEqual(before);
  const part = { amount_microusd: '100000', reason: 'fault' };
  const key = { 'idempotency-key': 'ticket-17' };
  expect((await harness.post(`/tasks/${video.id}/refund`, part, key)).status).toBe(201);
  const refunded = { ...before, refunded_microusd: '100000' };
  expect((await videos.get(`tasks/${video.id}`)).json).toEqual(refunded);
  const { data } = (await videos.get('tasks?modality=video')).json as { data: object[] };
  expect(data).toEqual([refunded]);
  // The object of a video has no money, as its vendor describes it.
  expect(await videos.read(video.id)).toEqual(video);
  expect((await harness.post(`/tasks/${video.id}/refund`, {})).status).toBe(201);
  expect((await videos.get(`tasks/${video.id}`)).json).toEqual({
    ...before,
    refunded_microusd: VIDEO_PRICE.toString(),
  });
  const [newest] = ((await videos.get('ledger?limit=2')).json as { data: object[] }).data;
  expect(newest).toMatchObject({
    kind: 'correction',
    correction_kind: 'refund',
    reference: video.id,
  });
  expect(await videos.balance()).toMatchObject({ available: CREDIT, held: 0n });
  expect(receiver.received).toHaveLength(1);
});
