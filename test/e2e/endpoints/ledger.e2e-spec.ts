import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { DAY_MS } from '../../../src/common/time/spans.js';

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const TODAY = new Date().toISOString().slice(0, 10);
const HEAD =
  'id,created_at,account_id,kind,correction_kind,amount_microusd,amount_usd,balance_after_microusd,balance_after_usd,reference,reason,granted_microusd,granted_usd,credit_kind,expires_at,payment_reference,currency,tax_microusd,tax_usd';

interface Entry {
  readonly kind: string;
  readonly amount_microusd: string;
}

let gateway: TestGateway;
let account: TestAccount;
let execution: string;

/** A credit, a charge, a part of it given back, a correction with a note; and of another account the same. */
beforeAll(async () => {
  gateway = await startTestGateway();
  [account] = await Promise.all([used(), used()]);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

async function used(): Promise<TestAccount> {
  const caller = await gateway.account(1_000_000n);
  const call = await postJson(`${gateway.url}/v1/audio/speech`, caller.headers, HELLO);
  execution = call.headers.get('x-gateway-execution-id') ?? '';
  const admin = (path: string, key: string, body: object) =>
    postJson(`${gateway.url}/admin/${path}`, { ...ADMIN, 'idempotency-key': key }, body);
  const part = { amount_microusd: '100', reason: 'fault', note: 'secret note' };
  expect((await admin(`executions/${execution}/refund`, 'secret-key', part)).status).toBe(201);
  const credits = `accounts/${toPublicId('acct', caller.accountId)}/credits`;
  const fix = { amount_microusd: '-500', reason: 'billing_error', note: 'secret note' };
  expect((await admin(credits, 'secret-fix', fix)).status).toBe(201);
  return caller;
}

const get = (path: string, headers = account.headers) => send(`${gateway.url}${path}`, { headers });
const entriesOf = async (query = '') => {
  const answer = await get(`/v1/ledger${query}`);
  expect([query, answer.status]).toEqual([query, 200]);
  return (answer.json as { data: Entry[] }).data;
};
const amountsOf = async (query: string) =>
  (await entriesOf(query)).map(({ amount_microusd: amount }) => amount);

describe('GET /v1/ledger', () => {
  it('lists what moved the money of the own account, without the notes and keys of operators', async () => {
    const answer = await get('/v1/ledger');
    expect(answer.json).toMatchObject({ object: 'list', has_more: false, next_cursor: null });
    const entries = await entriesOf();
    expect(entries).toMatchObject(
      [
        { kind: 'correction', correction_kind: 'adjustment', reason: 'billing_error' },
        { kind: 'correction', correction_kind: 'refund', reason: 'fault', amount_microusd: '100' },
        { kind: 'charge', correction_kind: null, amount_microusd: '-600', reference: /^exec_/ },
        { kind: 'credit', balance_after_microusd: '1000000', reference: null, reason: null },
      ].map((entry) => ({
        ...entry,
        ...('reference' in entry &&
          entry.reference && { reference: expect.stringMatching(entry.reference) }),
      })),
    );
    const ids = entries.map((entry) => (entry as unknown as { account_id: string }).account_id);
    expect(new Set(ids)).toEqual(new Set([toPublicId('acct', account.accountId)]));
    expect(answer.bytes.toString()).not.toMatch(/secret|note|idempotency/);
    expect((await get('/v1/ledger?format=csv')).bytes.toString()).not.toMatch(/secret|note/);
  });

  it('takes the filters of the operator but the key, which is his own', async () => {
    expect(await amountsOf('?kind=charge')).toEqual(['-600']);
    expect(await amountsOf('?correction_kind=refund')).toEqual(['100']);
    expect(await amountsOf('?reason=billing_error')).toEqual(['-500']);
    expect(await amountsOf('?model=aud-v4')).toEqual(['100', '-600']);
    expect(await amountsOf('?model=aud-v3')).toEqual([]);
    const now = Math.floor(Date.now() / 1000);
    expect(await amountsOf(`?created_before=${now - 3_600}`)).toEqual([]);
    expect(await amountsOf(`?created_after=${now - 3_600}&kind=credit`)).toEqual(['1000000']);
    for (const [query, param] of [
      ['idempotency_key=secret-fix', 'idempotency_key'],
      ['account_id=x', 'account_id'],
      ['kind=refund', 'kind'],
      ['limit=101', 'limit'],
      ['cursor=x', 'cursor'],
    ] as const) {
      const answer = await get(`/v1/ledger?${query}`);
      expect([query, answer.status, errorOf(answer).param]).toEqual([query, 400, param]);
    }
  });

  it('is read page by page, as JSON and as CSV', async () => {
    const pages: Entry[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { json } = await get(`/v1/ledger?limit=3${cursor && `&cursor=${cursor}`}`);
      const page = json as { data: Entry[]; next_cursor: string | null };
      pages.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(await entriesOf());
    const csv = await get('/v1/ledger?format=csv&limit=3');
    expect(csv.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="ledger.csv"');
    const [head, ...lines] = csv.bytes.toString().split('\r\n');
    expect([head, lines.length]).toEqual([HEAD, 3]);
    expect(lines[1]).toMatch(
      /,correction,refund,100,0.0001,999500,0.9995,exec_\w{32},fault,0,0\.00,,,,,,$/,
    );
    const rest = await get(
      `/v1/ledger?format=csv&cursor=${csv.headers.get('x-gateway-next-cursor') ?? ''}`,
    );
    expect(rest.bytes.toString().split('\r\n')).toHaveLength(2);
    expect(rest.headers.get('x-gateway-next-cursor')).toBeNull();
  });
});

describe('the balance as tools read it', () => {
  const jsonOf = async (path: string) => (await get(path)).json as Record<string, unknown>;

  it('is the difference of what was credited and used, in USD', async () => {
    const { data } = (await jsonOf('/v1/credits')) as {
      data: { total_credits: number; total_usage: number };
    };
    expect(data).toEqual({ total_credits: 0.9995, total_usage: 0.0005 });
    const balance = await gateway.balance(account.accountId);
    const micro = Math.round((data.total_credits - data.total_usage) * 1_000_000);
    expect(BigInt(micro)).toBe(balance.available + balance.held);
  });

  it('is the limit of a subscription less the usage of all days, in cents', async () => {
    expect(await jsonOf('/v1/dashboard/billing/subscription')).toEqual({
      object: 'billing_subscription',
      hard_limit_usd: 0.9995,
      soft_limit_usd: 0.9995,
      system_hard_limit_usd: 0.9995,
      access_until: 0,
    });
    const usage = '/v1/dashboard/billing/usage';
    const used = { object: 'list', total_usage: 0.05 };
    const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
    expect(await jsonOf(usage)).toEqual(used);
    expect(await jsonOf(`${usage}?start_date=${TODAY}&end_date=${tomorrow}`)).toEqual(used);
    expect(await jsonOf(`${usage}?end_date=${TODAY}`)).toEqual({ object: 'list', total_usage: 0 });
    for (const [query, param] of [
      [`start_date=${TODAY}&end_date=${TODAY}`, 'end_date'],
      ['start_date=2026-02-30', 'start_date'],
      ['days=3', 'days'],
    ] as const) {
      const answer = await get(`${usage}?${query}`);
      expect([query, answer.status, errorOf(answer).param]).toEqual([query, 400, param]);
    }
  });

  it('says until when the key works', async () => {
    const expiresAt = Math.floor(Date.now() / 1000) + 3_600;
    const path = `accounts/${toPublicId('acct', account.accountId)}/keys`;
    const issued = await postJson(`${gateway.url}/admin/${path}`, ADMIN, { expires_at: expiresAt });
    const { key } = issued.json as { key: string };
    const answer = await get('/v1/dashboard/billing/subscription', {
      authorization: `Bearer ${key}`,
    });
    expect(answer.json).toMatchObject({ access_until: expiresAt });
  });
});
