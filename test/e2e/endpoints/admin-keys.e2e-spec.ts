import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';

interface List {
  readonly object: string;
  readonly data: Record<string, unknown>[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

const EPOCH_SECONDS = expect.any(Number);

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway({ TRUST_PROXY: '127.0.0.0/8' });
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
});

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const get = (path: string, headers: Record<string, string> = ADMIN) =>
  send(`${gateway.url}/admin${path}`, { headers });
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  postJson(`${gateway.url}/admin${path}`, { ...ADMIN, ...headers }, body);
const list = async (path: string) => {
  const answer = await get(path);
  expect(answer.status).toBe(200);
  return answer.json as List;
};
const idOf = (answer: Answer) => {
  expect(answer.status).toBe(201);
  return (answer.json as { id: string }).id;
};
const newAccount = async (name = 'acme') => idOf(await post('/accounts', { name }));
const credit = (account: string, body: object, key: string = randomUUID()) =>
  post(`/accounts/${account}/credits`, body, { 'idempotency-key': key });

async function expectError(call: Promise<Answer>, status: number, code: string, param?: string) {
  const answer = await call;
  const error = errorOf(answer);
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  if (param !== undefined) expect(error.param).toBe(param);
}

it('GET /admin/audit proves the books', async () => {
  const { json } = await get('/audit');
  expect(json).toMatchObject({ ok: true, held_microusd: '0', discrepancies: [] });
  const report = json as { posted_microusd: string; entries_microusd: string };
  expect(report.posted_microusd).toBe(report.entries_microusd);
});

describe('a list', () => {
  it('of ledger entries is newest first and read page by page', async () => {
    const account = await newAccount();
    for (const amount of ['1', '2', '3', '4', '5']) {
      await credit(account, { amount_microusd: amount });
    }
    const amounts: unknown[] = [];
    let cursor = '';
    for (;;) {
      const page = await list(`/accounts/${account}/ledger?limit=2${cursor}`);
      expect(page.object).toBe('list');
      amounts.push(...page.data.map((entry) => entry.amount_microusd));
      expect(page.has_more).toBe(page.next_cursor !== null);
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(amounts).toEqual(['5', '4', '3', '2', '1']);
    const whole = await list(`/accounts/${account}/ledger?limit=5`);
    expect(whole).toMatchObject({ has_more: false, next_cursor: null });
  });

  it('of accounts is newest first, twenty by default', async () => {
    for (let index = 0; index < 21; index++) await newAccount(`list ${index}`);
    const page = await list('/accounts');
    expect(page.data).toHaveLength(20);
    expect(page.data[0]).toMatchObject({ name: 'list 20' });
    const next = await list(`/accounts?limit=1&cursor=${page.next_cursor ?? ''}`);
    expect(next.data[0]).toMatchObject({ name: 'list 0' });
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['cursor=%27%20or%201=1', 'cursor'],
    ['foo=1', 'foo'],
  ])('refuses the query %s', async (query, param) => {
    const account = await newAccount();
    for (const path of ['/accounts', `/accounts/${account}/ledger`, '/executions']) {
      await expectError(get(`${path}?${query}`), 400, 'invalid_request', param);
    }
  });

  it('refuses a parameter given twice', async () => {
    await expectError(get('/accounts?limit=1&limit=2'), 400, 'invalid_request', 'limit');
  });
});

describe('a key', () => {
  it('shows its text once, and its terms always', async () => {
    const account = await newAccount();
    const terms = {
      name: 'ci',
      allowed_models: ['aud-v4'],
      expires_at: 4_000_000_000,
      requests_per_minute: 30,
    };
    const issued = await post(`/accounts/${account}/keys`, terms);
    expect(issued.json).toMatchObject({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      object: 'api_key',
      key: expect.stringMatching(/^sk-/),
      ...terms,
    });
    const { key, ...rest } = issued.json as { key: string };
    const page = await list(`/accounts/${account}/keys`);
    expect(page.data).toEqual([rest]);
    expect(key.startsWith((rest as { prefix?: string }).prefix ?? '?')).toBe(true);
    expect(JSON.stringify(page)).not.toContain(key);
  });

  it.each([
    [{ allowed_models: 'aud-v4' }, 'allowed_models'],
    [{ allowed_models: [5] }, 'allowed_models'],
    [{ expires_at: 'soon' }, 'expires_at'],
    [{ requests_per_minute: 0 }, 'requests_per_minute'],
    [{ foo: 1 }, 'foo'],
  ])('is not issued with %j', async (terms, param) => {
    const account = await newAccount();
    await expectError(post(`/accounts/${account}/keys`, terms), 400, 'invalid_request', param);
    expect((await list(`/accounts/${account}/keys`)).data).toEqual([]);
  });

  it('is revoked, once and again; an unknown one is 404', async () => {
    const account = await newAccount();
    const id = idOf(await post(`/accounts/${account}/keys`, {}));
    const revoke = (key: string) =>
      send(`${gateway.url}/admin/keys/${key}`, { method: 'DELETE', headers: ADMIN });
    expect([(await revoke(id)).status, (await revoke(id)).status]).toEqual([204, 204]);
    const [row] = (await list(`/accounts/${account}/keys`)).data;
    expect(row).toMatchObject({ id, revoked_at: EPOCH_SECONDS });
    await expectError(revoke('key_00000000000000000000000000000000'), 404, 'not_found');
    await expectError(post(`/keys/${id}/rotate`, {}), 404, 'not_found');
  });

  it.each([-1, 1.5, '1', 1e12])('is not rotated with an overlap of %j seconds', async (overlap) => {
    const account = await newAccount();
    const id = idOf(await post(`/accounts/${account}/keys`, {}));
    const call = post(`/keys/${id}/rotate`, { overlap_seconds: overlap });
    await expectError(call, 400, 'invalid_request', 'overlap_seconds');
    expect((await list(`/accounts/${account}/keys`)).data).toHaveLength(1);
  });
});
