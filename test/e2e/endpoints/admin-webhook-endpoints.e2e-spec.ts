import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { signatureOf } from '../../../src/webhooks/webhook-signature.js';
import { AdminHarness, createdId, expectError } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const SECRET = 'a-secret-of-16-or-more';

let receiver: WebhookReceiver;
let harness: AdminHarness;
let account: string;
let endpoints: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  harness = await AdminHarness.start(await startTestGateway(receiver.settings));
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});
beforeEach(async () => {
  receiver.received.length = 0;
  account = await harness.newAccount();
  endpoints = `/accounts/${account}/webhook-endpoints`;
});

const bodyOf = (fields: object = {}) => ({
  url: receiver.url,
  secret: SECRET,
  events: ['balance.low'],
  ...fields,
});
const make = async (fields?: object) => createdId(await harness.post(endpoints, bodyOf(fields)));

describe('/admin/accounts/{id}/webhook-endpoints', () => {
  it('makes, shows, lists and deletes the endpoints of an account, without their secrets', async () => {
    const id = await make();
    const shown = {
      id,
      object: 'webhook_endpoint',
      url: receiver.url,
      events: ['balance.low'],
      created_at: expect.any(Number),
    };
    expect((await harness.get(`${endpoints}/${id}`)).json).toEqual(shown);
    expect((await harness.list(endpoints)).data).toEqual([shown]);
    const other = `/accounts/${await harness.newAccount('other')}/webhook-endpoints`;
    expect((await harness.list(other)).data).toEqual([]);
    await expectError(harness.get(`${other}/${id}`), 404, 'not_found');
    await expectError(harness.ask('DELETE', `${other}/${id}`), 404, 'not_found');
    await expectError(harness.ask('POST', `${other}/${id}/test`), 404, 'not_found');
    expect((await harness.ask('DELETE', `${endpoints}/${id}`)).status).toBe(204);
    await expectError(harness.ask('DELETE', `${endpoints}/${id}`), 404, 'not_found');
    expect((await harness.list(endpoints)).data).toEqual([]);
  });

  it('is 404 for an unknown account, and refuses what a holder may not set either', async () => {
    const nobody = `/accounts/acct_${'0'.repeat(32)}/webhook-endpoints`;
    await expectError(harness.get(nobody), 404, 'not_found');
    await expectError(harness.post(nobody, bodyOf()), 404, 'not_found');
    for (const [field, value] of [
      ['url', 'https://10.0.0.1/'],
      ['secret', 'short'],
      ['events', ['test']],
    ] as const) {
      const answer = await harness.post(endpoints, bodyOf({ [field]: value }));
      await expectError(answer, 400, 'invalid_request');
    }
    for (let nr = 0; nr < 10; nr++) await make();
    await expectError(harness.post(endpoints, bodyOf()), 409, 'conflict');
  });

  it('sends a test that is signed, found by its account, endpoint and event, and sent again', async () => {
    const id = await make();
    const answer = await harness.ask('POST', `${endpoints}/${id}/test`);
    expect([answer.status, answer.json]).toMatchObject([
      202,
      { account_id: account, endpoint_id: id, task_id: null, event: 'test' },
    ]);
    await until(() => receiver.received.length === 1);
    const { headers, body } = receiver.received[0]!;
    const signature = String(headers['x-shim-signature']);
    const [, t = ''] = /^t=(\d+),/.exec(signature) ?? [];
    expect(signature).toBe(signatureOf(SECRET, Number(t), body));
    const delivery = answer.json as { id: string };
    const found = async (query: string) =>
      (await harness.list(`/webhook-deliveries?${query}`)).data.map((row) => row.id);
    for (const query of [
      `account_id=${account}`,
      `endpoint_id=${id}`,
      `account_id=${account}&event=test`,
    ])
      expect([query, await found(query)]).toEqual([query, [delivery.id]]);
    expect(await found(`account_id=${account}&event=balance.low`)).toEqual([]);
    for (const [query, param] of [
      ['account_id=acme', 'account_id'],
      ['endpoint_id=whd_1', 'endpoint_id'],
      ['event=balance.high', 'event'],
    ] as const)
      await expectError(harness.get(`/webhook-deliveries?${query}`), 400, 'invalid_request', param);
    const again = await harness.ask('POST', `/webhook-deliveries/${delivery.id}/redeliver`);
    expect(again.status).toBe(202);
    await until(() => receiver.received.length === 2);
    expect(receiver.received[1]?.body).toEqual(body);
  });

  it('is recorded as acts of the operator, without the secret and the URL', async () => {
    const id = await make();
    const sent = await harness.ask('POST', `${endpoints}/${id}/test`);
    await harness.ask('DELETE', `${endpoints}/${id}`);
    const made = { made: id, before: null, after: { events: ['balance.low'] } };
    const acts = (await harness.list('/operator-actions?limit=3')).data;
    expect(acts).toMatchObject([
      { action: 'webhook-endpoint:delete', target: id, outcome: 'done' },
      { action: 'webhook-endpoint:test', target: id, made: (sent.json as { id: string }).id },
      { action: 'webhook-endpoint:create', target: account, ...made },
    ]);
    expect(JSON.stringify(acts)).not.toMatch(new RegExp(`${SECRET}|${receiver.url}`));
  });
});
