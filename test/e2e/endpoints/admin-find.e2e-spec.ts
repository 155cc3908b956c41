import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { AdminHarness, createdId, expectError } from '../../support/admin-harness.js';
import { startTestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { until } from '../../support/until.js';
import { BRISK } from '../../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.js';

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly account_id: string | null;
  readonly path: string;
}

let receiver: WebhookReceiver;
let harness: AdminHarness;
let account: string;
let key: { readonly id: string; readonly key: string };

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  harness = await AdminHarness.start(await startTestGateway({ ...BRISK, ...receiver.settings }));
  account = await harness.newAccount();
  await harness.credit(account, { amount_microusd: '5000000' }, 'invoice-17');
  key = (await harness.post(`/accounts/${account}/keys`, {})).json as typeof key;
});
afterAll(async () => {
  await harness.stop();
  await receiver.stop();
});

const find = async (id: string, more = ''): Promise<Found[]> =>
  (await harness.list(`/find?id=${encodeURIComponent(id)}${more}`)).data as unknown as Found[];

/** What the path of the only record that is found answers. */
async function readOf(id: string, kind: string, more = ''): Promise<Record<string, unknown>> {
  const found = await find(id, more);
  expect([id, found.map((one) => one.kind)]).toEqual([id, [kind]]);
  const [{ path }] = found as [Found];
  expect(path).toMatch(/^\/admin\//);
  const answer = await harness.get(path.slice('/admin'.length));
  expect([id, answer.status]).toEqual([id, 200]);
  const json = answer.json as Record<string, unknown>;
  return Array.isArray(json.data) ? (json.data[0] as Record<string, unknown>) : json;
}

async function chat(clientRequestId: string): Promise<{ id: string; execution: string }> {
  const body = { model: 'gen-5-mini', messages: [{ role: 'user', content: 'hello' }] };
  const answer = await postJson(
    `${harness.gateway.url}/v1/chat/completions`,
    { authorization: `Bearer ${key.key}`, 'x-client-request-id': clientRequestId },
    body,
  );
  expect(answer.status).toBe(200);
  const execution = String(answer.headers.get('x-gateway-execution-id'));
  return { id: (answer.json as { id: string }).id, execution };
}

describe('GET /admin/find', () => {
  it('finds accounts, keys, endpoints and deliveries, and says where each is read', async () => {
    const endpoint = createdId(
      await harness.post(`/accounts/${account}/webhook-endpoints`, {
        url: receiver.url,
        secret: 'a-secret-of-16-or-more',
        events: ['balance.low'],
      }),
    );
    const path = `/accounts/${account}/webhook-endpoints/${endpoint}/test`;
    const delivery = (await harness.ask('POST', path)).json as { id: string };
    for (const [id, kind] of [
      [account, 'account'],
      [key.id, 'api_key'],
      [endpoint, 'webhook_endpoint'],
      [delivery.id, 'webhook_delivery'],
    ] as const) {
      expect(await readOf(id, kind)).toMatchObject({ id });
      // The digits alone, and as a UUID.
      const hex = id.slice(-32);
      expect(await readOf(hex, kind)).toMatchObject({ id });
      const uuid = hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      expect(await readOf(uuid, kind)).toMatchObject({ id });
    }
    await until(() => receiver.received.length > 0);
  });

  it('finds a call by its id, that of its answer and the name that its caller gave it, and its charge', async () => {
    const name = `client ${randomUUID()}`;
    const { id, execution } = await chat(name);
    const digits = id.slice('chatcmpl-'.length);
    for (const one of [execution, id, `resp_${digits}`, `msg_${digits}`, name])
      expect(await readOf(one, 'execution')).toMatchObject({ id: execution });
    expect(await readOf(`entry_${digits}`, 'ledger_entry')).toMatchObject({
      kind: 'charge',
      reference: execution,
    });
    expect((await find(digits)).map(({ kind }) => kind)).toEqual(['execution', 'ledger_entry']);
  });

  it('finds a task and a credit, and other entries where the account is named', async () => {
    const answer = await postJson(
      `${harness.gateway.url}/v1/videos`,
      { authorization: `Bearer ${key.key}` },
      { model: 'vid-motion', prompt: '[[sandbox:task-ms=1]] rain', seconds: '5' },
    );
    expect(answer.status).toBeLessThan(300);
    const { id: task } = answer.json as { id: string };
    expect(await readOf(task, 'task')).toMatchObject({ id: task });
    const credit = await readOf('invoice-17', 'ledger_entry');
    expect(credit).toMatchObject({ kind: 'credit', idempotency_key: 'invoice-17' });
    const entry = String(credit.id);
    expect(await find(entry)).toEqual([]);
    const named = `&account_id=${account}`;
    expect(await readOf(entry, 'ledger_entry', named)).toEqual(credit);
    await until(async () => {
      const { json } = await harness.get(`/tasks/${task}`);
      const { status } = json as { status: string };
      return !['queued', 'in_progress', 'processing'].includes(status);
    });
  });

  it('finds a price book by its name', async () => {
    const name = `book-${randomUUID().slice(0, 8)}`;
    await harness.post('/price-books', { id: name, factor_permille: 900 });
    expect(await readOf(name, 'price_book')).toMatchObject({ id: name });
  });

  it('has nothing for what nothing has, or only another account', async () => {
    const other = `&account_id=${await harness.newAccount('other')}`;
    for (const [id, more] of [
      [`exec_${'0'.repeat(32)}`, ''],
      ['nonsense', ''],
      ["'; DROP TABLE account", ''],
      [key.id, other],
      ['invoice-17', other],
      [account.replace('acct_', 'key_'), ''],
    ] as const)
      expect([id, await find(id, more)]).toEqual([id, []]);
  });

  it('is 400 without an id, with one too long, and with an account that is no id', async () => {
    await expectError(harness.get('/find'), 400, 'invalid_request', 'id');
    await expectError(harness.get(`/find?id=${'a'.repeat(201)}`), 400, 'invalid_request', 'id');
    const named = harness.get('/find?id=a&account_id=acme');
    await expectError(named, 400, 'invalid_request', 'account_id');
  });
});
