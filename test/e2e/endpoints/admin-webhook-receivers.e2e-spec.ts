import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AdminHarness, createdId, expectError } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

let receiver: WebhookReceiver;
let harness: AdminHarness;
let account: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver(410);
  harness = await AdminHarness.start(await startTestGateway(receiver.settings));
  account = await harness.newAccount();
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const redeliver = (body: object) => harness.post('/webhook-deliveries/redeliver', body);

describe('operators', () => {
  it('see which receiver fails, and send again what failed there', async () => {
    const endpoint = createdId(
      await harness.post(`/accounts/${account}/webhook-endpoints`, {
        url: receiver.url,
        secret: 'a-secret-of-16-or-more',
        events: ['balance.low'],
      }),
    );
    const host = new URL(receiver.url).host;
    const sent = await harness.ask(
      'POST',
      `/accounts/${account}/webhook-endpoints/${endpoint}/test`,
    );
    const path = `/webhook-deliveries/${(sent.json as { id: string }).id}`;
    const statusOf = async () => ((await harness.get(path)).json as { status: string }).status;
    await until(async () => (await statusOf()) === 'failed');
    expect((await harness.get('/webhook-receivers')).json).toEqual({
      object: 'list',
      data: [
        {
          object: 'webhook_receiver',
          host,
          accounts: 1,
          deliveries: 1,
          delivered: 0,
          pending: 0,
          failed: 1,
          attempts: 1,
          latency_p50_ms: expect.any(Number),
          latency_p99_ms: expect.any(Number),
          lag_seconds: null,
        },
      ],
      has_more: false,
      next_cursor: null,
      since: expect.any(Number),
      complete: true,
    });
    const found = async (query: string) =>
      (await harness.list(`/webhook-deliveries?${query}`)).data.length;
    const named = `host=${host}`;
    expect([await found(named), await found(`${named}&status=failed`)]).toEqual([1, 1]);
    expect(await found(`${named}&account_id=${account}&limit=1`)).toBe(1);
    expect([await found('host=other.example'), await found(`${named}&status=pending`)]).toEqual([
      0, 0,
    ]);
    receiver.react(200);
    const none = await redeliver({ failed_after: 0, host: 'other.example' });
    expect([none.status, none.json]).toEqual([202, { object: 'redelivery', deliveries: 0 }]);
    const done = await redeliver({ failed_after: 0, host, account_id: account });
    expect([done.status, done.json]).toEqual([202, { object: 'redelivery', deliveries: 1 }]);
    await until(async () => (await statusOf()) === 'delivered');
    expect((await redeliver({ failed_after: 0 })).json).toMatchObject({ deliveries: 0 });
    const acts = (await harness.list('/operator-actions?limit=1')).data;
    expect(acts).toMatchObject([{ action: 'delivery:redeliver-failed', outcome: 'done' }]);
  });

  it('are refused a time that is none, and an account that is no id', async () => {
    await expectError(redeliver({}), 400, 'invalid_request', 'failed_after');
    const named = redeliver({ failed_after: 0, account_id: 'acme' });
    await expectError(named, 400, 'invalid_request', 'account_id');
    await expectError(
      harness.get('/webhook-receivers?created_after=soon'),
      400,
      'invalid_request',
      'created_after',
    );
  });
});
