import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

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
const balanceOf = async (account: string) => (await get(`/accounts/${account}`)).json;

async function expectError(call: Promise<Answer>, status: number, code: string, param?: string) {
  const answer = await call;
  const error = errorOf(answer);
  expect({ status: answer.status, code: error.code }).toEqual({ status, code });
  if (param !== undefined) expect(error.param).toBe(param);
}

describe('the operator token', () => {
  it('that is missing or wrong is 401 on every call', async () => {
    const paths = ['/accounts', '/accounts/acct_x', '/executions', '/audit'];
    const wrong = ['', 'Bearer', `Bearer ${ADMIN_TOKEN}x`, `Basic ${ADMIN_TOKEN}`, ADMIN_TOKEN];
    for (const [index, path] of paths.entries()) {
      // From an address of its own: ten wrong tokens a minute are all that one may try.
      const from = { 'x-forwarded-for': `192.0.2.${index}` };
      for (const authorization of wrong) {
        await expectError(get(path, { authorization, ...from }), 401, 'invalid_token');
      }
    }
    const body = postJson(`${gateway.url}/admin/accounts`, {}, '{broken');
    await expectError(body, 401, 'invalid_token');
  });

  it('that is not set hides the operator API', async () => {
    const closed = await startTestGateway({ ADMIN_TOKEN: undefined });
    const answer = await send(`${closed.url}/admin/accounts`, { headers: ADMIN });
    await closed.stop();
    expect({ status: answer.status, code: errorOf(answer).code }).toEqual({
      status: 404,
      code: 'not_found',
    });
  });
});

describe('an account', () => {
  it('is created empty and found again', async () => {
    const created = await post('/accounts', { name: 'acme' });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      id: expect.stringMatching(/^acct_[0-9a-f]{32}$/),
      object: 'account',
      name: 'acme',
      available_microusd: '0',
      held_microusd: '0',
      created_at: EPOCH_SECONDS,
    });
    expect((await get(`/accounts/${idOf(created)}`)).json).toEqual(created.json);
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'a', foo: 1 }, 'foo'],
  ])('is not created from %j', async (body, param) => {
    await expectError(post('/accounts', body), 400, 'invalid_request', param);
  });

  it.each([
    'acct_00000000000000000000000000000000',
    'nonsense',
    'key_00000000000000000000000000000000',
    '%00',
    '..%2Faudit',
  ])('with the unknown id %s is 404', async (id) => {
    await expectError(get(`/accounts/${id}`), 404, 'not_found');
    await expectError(get(`/accounts/${id}/ledger`), 404, 'not_found');
    await expectError(get(`/accounts/${id}/keys`), 404, 'not_found');
    await expectError(post(`/accounts/${id}/keys`, {}), 404, 'not_found');
    await expectError(credit(id, { amount_microusd: '1' }), 404, 'not_found');
  });
});

describe('a credit', () => {
  it('adds to the balance and answers its entry', async () => {
    const account = await newAccount();
    const answer = await credit(account, { amount_microusd: '5000000', note: 'invoice 7' });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^entry_/),
      object: 'ledger_entry',
      kind: 'credit',
      amount_microusd: '5000000',
      balance_after_microusd: '5000000',
      reference: 'invoice 7',
      created_at: EPOCH_SECONDS,
    });
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '5000000' });
  });

  it('replayed, even at the same time, happens once; with another amount it is 409', async () => {
    const account = await newAccount();
    const body = { amount_microusd: '700' };
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => credit(account, body, 'key-1')));
    const replay = await credit(account, body, 'key-1');
    for (const answer of [...answers, replay]) {
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual(replay.json);
    }
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '700' });
    const other = credit(account, { amount_microusd: '701' }, 'key-1');
    await expectError(other, 409, 'idempotency_conflict');
    const elsewhere = await newAccount();
    expect((await credit(elsewhere, { amount_microusd: '701' }, 'key-1')).status).toBe(201);
  });

  it('without an Idempotency-Key is 400', async () => {
    const account = await newAccount();
    const body = { amount_microusd: '1' };
    const path = `/accounts/${account}/credits`;
    await expectError(post(path, body), 400, 'invalid_request', 'Idempotency-Key');
    for (const key of ['', ' ', 'x'.repeat(201), 'a b']) {
      await expectError(credit(account, body, key), 400, 'invalid_request', 'Idempotency-Key');
    }
  });

  it.each([
    5,
    '',
    '1.5',
    '1e3',
    '+5',
    '0',
    '-0',
    '--1',
    ' 1',
    '0x10',
    '١',
    '9223372036854775808',
    '1'.repeat(40),
    null,
    ['1'],
    true,
  ])('of %j is 400', async (amount) => {
    const account = await newAccount();
    const call = credit(account, { amount_microusd: amount });
    await expectError(call, 400, 'invalid_request', 'amount_microusd');
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '0' });
  });

  it('with a leading minus corrects, and never below what is available', async () => {
    const account = await newAccount();
    await credit(account, { amount_microusd: '1000' });
    await expectError(credit(account, { amount_microusd: '-1001' }), 409, 'conflict');
    const correction = await credit(account, { amount_microusd: '-400' });
    expect(correction.json).toMatchObject({
      kind: 'correction',
      amount_microusd: '-400',
      balance_after_microusd: '600',
    });
    await credit(account, { amount_microusd: '-600' });
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '0' });
    await expectError(credit(account, { amount_microusd: '-1' }), 409, 'conflict');
  });

  it('beyond what a balance can hold is refused and changes nothing', async () => {
    const account = await newAccount();
    const most = '9223372036854775807';
    const first = await credit(account, { amount_microusd: most });
    expect([201, 400]).toContain(first.status);
    const second = await credit(account, { amount_microusd: most });
    expect(second.status).toBeGreaterThanOrEqual(400);
    expect(second.status).toBeLessThan(500);
    errorOf(second);
    if (first.status === 201) await credit(account, { amount_microusd: `-${most}` });
  });
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

describe('an execution', () => {
  const speak = (headers: Record<string, string>, fields: object = {}) =>
    postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
  const executionId = (answer: Answer) => answer.headers.get('x-gateway-execution-id') ?? '';

  it('is found by the id in the head of its answer, with its charge (AUD-03)', async () => {
    const { headers, accountId } = await gateway.account();
    const id = executionId(await speak(headers));
    const found = await get(`/executions/${id}`);
    const [upstream] = await gateway.upstreamRequests();
    expect(upstream?.status).toBe(200);
    expect(found.json).toEqual({
      id,
      object: 'execution',
      status: 'succeeded',
      model: 'aud-v4',
      endpoint: '/v1/audio/speech',
      error_code: null,
      charged_microusd: '600',
      provider: 'elevenlabs',
      provider_error: null,
      client_request_id: null,
      provider_request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      account_id: `acct_${accountId.replaceAll('-', '')}`,
      api_key_id: expect.stringMatching(/^key_/),
      created_at: EPOCH_SECONDS,
      completed_at: EPOCH_SECONDS,
    });
  });

  it('that failed tells why and that nothing was charged', async () => {
    const { headers } = await gateway.account();
    const answer = await speak(headers, { input: '[[sandbox:status=500]]' });
    expect((await get(`/executions/${executionId(answer)}`)).json).toMatchObject({
      status: 'failed',
      error_code: 'provider_http_error',
      charged_microusd: null,
      provider: 'elevenlabs',
      completed_at: EPOCH_SECONDS,
    });
  });

  it('is not made by what is refused before the hold', async () => {
    const { headers } = await gateway.account();
    const poor = await gateway.account(1n);
    const refused = [await speak(headers, { foo: 1 }), await speak(poor.headers)];
    for (const answer of refused) {
      await expectError(get(`/executions/${executionId(answer)}`), 404, 'not_found');
    }
  });

  it('is listed by account and by status, newest first', async () => {
    const { headers, accountId } = await gateway.account();
    const first = executionId(await speak(headers));
    const failed = executionId(await speak(headers, { input: '[[sandbox:status=400]]' }));
    const last = executionId(await speak(headers));
    const account = `account_id=acct_${accountId.replaceAll('-', '')}`;
    const ids = async (query: string) =>
      (await list(`/executions?${account}${query}`)).data.map((row) => row.id);
    expect(await ids('')).toEqual([last, failed, first]);
    expect(await ids('&status=succeeded')).toEqual([last, first]);
    expect(await ids('&status=failed')).toEqual([failed]);
    expect(await ids('&status=running')).toEqual([]);
    const page = await list(`/executions?${account}&limit=2`);
    expect(page.has_more).toBe(true);
    expect(await ids(`&limit=2&cursor=${page.next_cursor ?? ''}`)).toEqual([first]);
    await expectError(get('/executions?status=odd'), 400, 'invalid_request', 'status');
  });
});

it('GET /admin/audit proves the books', async () => {
  const { json } = await get('/audit');
  expect(json).toMatchObject({ ok: true, held_microusd: '0', discrepancies: [] });
  const report = json as { posted_microusd: string; entries_microusd: string };
  expect(report.posted_microusd).toBe(report.entries_microusd);
});
