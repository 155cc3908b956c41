import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { BRISK, VIDEO, VideoHarness } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const SECRET = '12345678';

let receiver: WebhookReceiver;
let gateway: TestGateway;
let harness: VideoHarness;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  gateway = await startTestGateway({ ...BRISK, ...receiver.settings });
  harness = await VideoHarness.open(gateway);
});
afterAll(async () => {
  await gateway.stop();
  await receiver.stop();
});

/** The one delivery of a video that is submitted with its own webhook. */
async function told(name: string, fields: object) {
  const { id } = await harness.submitted({ webhook: `${receiver.url}/${name}`, ...fields });
  const mine = () => receiver.received.filter(({ path }) => path.endsWith(`/${name}`));
  while (mine().length === 0) await receiver.until(receiver.received.length + 1);
  const [delivery] = mine();
  return { id, delivery: delivery!, body: JSON.parse(delivery!.body.toString()) as unknown };
}

describe('the webhook of a video', () => {
  it('carries the body of GET /v1/tasks/{id}, with the link to the file (HOOK-06, VID-35, G-56)', async () => {
    const { id, body, delivery } = await told('done', {});
    const video = await harness.read(id);
    expect(body).toEqual({
      id,
      object: 'task',
      status: 'completed',
      model: 'vid-motion',
      progress: 100,
      created: video.created_at,
      completed: video.completed_at,
      cost: 0.25,
      result: {
        videos: [{ url: [expect.any(String)], expires_at: video.expires_at }],
      },
      error: null,
    });
    const read = await harness.get(`tasks/${id}`);
    expect(read.bytes.toString()).toBe(delivery.body.toString());
    const { result } = body as { result: { videos: { url: string[] }[] } };
    const link = result.videos[0]!.url[0]!;
    expect(link.replace(/[0-9a-f]{64}$/, '')).toBe(
      `${gateway.url}/v1/videos/${id}/content?expires=${video.expires_at ?? 0}&signature=`,
    );
    const file = await fetch(link);
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  });

  it('says that a video failed, without a result (VID-30, G-85)', async () => {
    const { id, body } = await told('failed', {
      prompt: `${VIDEO.prompt}[[sandbox:task-fails]]`,
    });
    expect(body).toMatchObject({
      id,
      status: 'failed',
      cost: 0,
      result: null,
      error: { code: 'provider_task_failed', message: expect.stringMatching(/./) },
    });
    expect((await harness.get(`tasks/${id}`)).json).toEqual(body);
  });

  it('is not signed without a secret (HOOK-13, VID-20)', async () => {
    const { delivery } = await told('unsigned', {});
    expect(delivery.headers).not.toHaveProperty('x-shim-signature');
  });

  it.each([SECRET, 'x'.repeat(128)])(
    'is signed with the secret %s (VID-20, VID-21)',
    async (secret) => {
      const { delivery } = await told(`signed-${secret.length}`, { webhook_secret: secret });
      const header = String(delivery.headers['x-shim-signature']);
      const [, at, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
      const signed = createHmac('sha256', secret).update(`${at}.`).update(delivery.body);
      expect(signature).toBe(signed.digest('hex'));
    },
  );
});

describe('GET /v1/tasks/{id} of a video', () => {
  it('has the same keys before the end, with null values (VID-35)', async () => {
    const { id } = await harness.submitted({ prompt: 'The sea [[sandbox:task-ms=600000]]' });
    const { progress, ...task } = (await harness.get(`tasks/${id}`)).json as Record<
      string,
      unknown
    >;
    expect(progress === null || progress === 0).toBe(true);
    expect(task).toEqual({
      id,
      object: 'task',
      status: expect.stringMatching(/^(queued|in_progress)$/),
      model: 'vid-motion',
      created: expect.any(Number),
      completed: null,
      cost: null,
      result: null,
      error: null,
    });
    const content = await harness.get(`tasks/${id}/content`);
    expect([content.status, (content.json as { error: { code: string } }).error.code]).toEqual([
      404,
      'content_not_available',
    ]);
  });
});
