import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { signatureOf } from '../../../src/webhooks/webhook-signature.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, send } from '../../support/http-answer.js';
import { until } from '../../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

const SECRET = 'a-secret-of-16-or-more';

let receiver: WebhookReceiver;
let gateway: TestGateway;
let accountId: string;
let key: string;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  gateway = await startTestGateway(receiver.settings);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await receiver.stop();
});
beforeEach(async () => {
  receiver.received.length = 0;
  ({ accountId, key } = await gateway.account(1_000n, { scopes: ['read', 'call', 'manage'] }));
});

function ask(method: string, path: string, body?: object, token = key): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return send(`${gateway.url}${path}`, init);
}
async function make(fields: object = {}): Promise<string> {
  const body = { url: receiver.url, secret: SECRET, events: ['balance.low'], ...fields };
  const answer = await ask('POST', '/v1/webhook-endpoints', body);
  expect(answer.status).toBe(201);
  return (answer.json as { id: string }).id;
}
const listed = async (path: string) => ((await ask('GET', path)).json as { data: object[] }).data;

describe('/v1/webhook-endpoints', () => {
  it('makes, shows, lists and deletes endpoints, without their secrets', async () => {
    const id = await make();
    const shown = { id, object: 'webhook_endpoint', url: receiver.url, events: ['balance.low'] };
    expect((await ask('GET', `/v1/webhook-endpoints/${id}`)).json).toMatchObject(shown);
    const list = await listed('/v1/webhook-endpoints');
    expect(list).toMatchObject([shown]);
    expect(JSON.stringify(list)).not.toContain('secret');
    const other = (await gateway.account(0n, { scopes: ['manage'] })).key;
    for (const method of ['GET', 'DELETE'])
      expect((await ask(method, `/v1/webhook-endpoints/${id}`, undefined, other)).status).toBe(404);
    expect((await ask('DELETE', `/v1/webhook-endpoints/${id}`)).status).toBe(204);
    expect((await ask('DELETE', `/v1/webhook-endpoints/${id}`)).status).toBe(404);
    expect((await ask('POST', `/v1/webhook-endpoints/${id}/test`)).status).toBe(404);
  });

  it.each<[object, string]>([
    [{ url: 'https://10.0.0.1/' }, 'url'],
    [{ url: 'http://example.com/' }, 'url'],
    [{ url: 'nothing' }, 'url'],
    [{ secret: 'short' }, 'secret'],
    [{ events: [] }, 'events'],
    [{ events: ['balance.high'] }, 'events'],
    [{ enabled: true }, 'enabled'],
  ])('refuses %j with 400', async (fields, param) => {
    const body = { url: receiver.url, secret: SECRET, events: ['balance.low'], ...fields };
    const answer = await ask('POST', '/v1/webhook-endpoints', body);
    expect([answer.status, errorOf(answer).param?.split('.')[0]]).toEqual([400, param]);
  });

  it('takes at most 10, at once too', async () => {
    const body = { url: receiver.url, secret: SECRET, events: ['balance.low'] };
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ask('POST', '/v1/webhook-endpoints', body)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(201), 409, 409]);
  });

  it('sends a test that is signed, listed and sent again as the webhook of a task is', async () => {
    const id = await make({ events: ['task.unknown'] });
    const answer = await ask('POST', `/v1/webhook-endpoints/${id}/test`);
    expect(answer.status).toBe(202);
    const delivery = answer.json as { id: string };
    expect(delivery).toMatchObject({ task_id: null, endpoint_id: id, event: 'test' });
    await until(() => receiver.received.length === 1);
    const [sent] = receiver.received;
    const body = sent?.body ?? Buffer.alloc(0);
    expect(JSON.parse(body.toString())).toMatchObject({ object: 'event', type: 'test', data: {} });
    const signature = String(sent?.headers['x-shim-signature']);
    const [, t = ''] = /^t=(\d+),/.exec(signature) ?? [];
    expect(signature).toBe(signatureOf(SECRET, Number(t), body));
    const row = async () => (await listed('/v1/webhook-deliveries'))[0];
    await until(async () => ((await row()) as { status: string }).status === 'delivered');
    expect(await row()).toMatchObject({ id: delivery.id, event: 'test' });
    expect(await listed('/v1/webhook-deliveries?status=failed')).toEqual([]);
    const again = await ask('POST', `/v1/webhook-deliveries/${delivery.id}/redeliver`);
    expect(again.status).toBe(202);
    await until(() => receiver.received.length === 2);
    expect(receiver.received[1]?.body).toEqual(body);
  });

  it('is sent at most 10 tests that are not delivered, at once too', async () => {
    // Its host does not resolve, so every attempt fails and the tests stay pending.
    const id = await make({ url: 'https://receiver.invalid/' });
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ask('POST', `/v1/webhook-endpoints/${id}/test`)),
    );
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(10).fill(202), 409, 409]);
    expect(await listed('/v1/webhook-deliveries?status=pending')).toHaveLength(10);
  });

  it('is told of a balance that runs low and dry, by the marks of its holder', async () => {
    await make({ events: ['balance.low', 'balance.depleted'] });
    const marked = await ask('PATCH', '/v1/account', { low_balance_microusd: '500' });
    expect(marked.json).toMatchObject({ low_balance_microusd: '500', available_microusd: '1000' });
    const speech = { model: 'aud-v4', input: 'Hello', voice: 'Adam' };
    expect((await ask('POST', '/v1/audio/speech', speech)).status).toBe(200);
    expect((await ask('POST', '/v1/audio/speech', speech)).status).toBe(402);
    expect((await ask('POST', '/v1/audio/speech', speech)).status).toBe(402);
    await until(() => receiver.received.length === 2);
    const types = receiver.received.map(
      ({ body }) => (JSON.parse(body.toString()) as { type: string }).type,
    );
    expect(types.sort()).toEqual(['balance.depleted', 'balance.low']);
    const kept = await ask('PATCH', '/v1/account', {});
    expect(kept.json).toMatchObject({ low_balance_microusd: '500' });
    const cleared = await ask('PATCH', '/v1/account', { low_balance_microusd: null });
    expect(cleared.json).toMatchObject({ low_balance_microusd: null });
    for (const low of ['0', '-5', '1.5', 5])
      expect((await ask('PATCH', '/v1/account', { low_balance_microusd: low })).status).toBe(400);
  });
});

describe('GET /admin/accounts', () => {
  it('tells who runs dry, and who spent most', async () => {
    const path = `/admin/accounts/acct_${accountId.replaceAll('-', '')}`;
    const set = await ask('PATCH', path, { low_balance_microusd: '700' }, ADMIN_TOKEN);
    expect(set.json).toMatchObject({ low_balance_microusd: '700' });
    await gateway.account(10n);
    await gateway.account(20n);
    const found: string[] = [];
    for (let cursor = ''; found.length < 100;) {
      const query = `available_below=21&sort=available&limit=1${cursor}`;
      const { json } = await ask('GET', `/admin/accounts?${query}`, undefined, ADMIN_TOKEN);
      const page = json as { data: { available_microusd: string }[]; next_cursor: string | null };
      found.push(...page.data.map((row) => row.available_microusd));
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(found.slice(-2)).toEqual(['10', '20']);
    for (const sort of ['spent', 'burn']) {
      const most = await ask('GET', `/admin/accounts?sort=${sort}&limit=1`, undefined, ADMIN_TOKEN);
      const amount = expect.stringMatching(/^[0-9]+$/);
      expect(most.json).toMatchObject({ data: [{ burn_microusd_per_day: amount }] });
    }
    const bad = await ask('GET', '/admin/accounts?available_below=-1', undefined, ADMIN_TOKEN);
    expect([bad.status, errorOf(bad).param]).toEqual([400, 'available_below']);
  });
});
