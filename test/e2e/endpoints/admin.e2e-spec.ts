import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN, AdminHarness, expectError, createdId } from '../../support/admin-harness.js';
import { ADMIN_TOKEN, startTestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';

const EPOCH_SECONDS = expect.any(Number);

let harness: AdminHarness;
beforeAll(async () => {
  // Its own, because the audit is of all accounts.
  harness = await AdminHarness.start(await startTestGateway({ TRUST_PROXY: '127.0.0.0/8' }));
});
afterAll(() => harness.stop());

const balanceOf = async (account: string) => (await harness.get(`/accounts/${account}`)).json;

it('GET /admin/audit proves the books', async () => {
  const { json } = await harness.get('/audit');
  expect(json).toMatchObject({ ok: true, held_microusd: '0', discrepancies: [] });
  const report = json as { posted_microusd: string; entries_microusd: string };
  expect(report.posted_microusd).toBe(report.entries_microusd);
});

describe('the operator token', () => {
  it('that is missing or wrong is 401 on every call', async () => {
    const paths = ['/accounts', '/accounts/acct_x', '/executions', '/audit'];
    const wrong = ['', 'Bearer', `Bearer ${ADMIN_TOKEN}x`, `Basic ${ADMIN_TOKEN}`, ADMIN_TOKEN];
    for (const [index, path] of paths.entries()) {
      // From an address of its own, because each address has ten wrong tokens per minute.
      const from = { 'x-forwarded-for': `192.0.2.${index}` };
      for (const authorization of wrong) {
        await expectError(harness.get(path, { authorization, ...from }), 401, 'invalid_token');
      }
    }
    const body = postJson(`${harness.gateway.url}/admin/accounts`, {}, '{broken');
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
    const created = await harness.post('/accounts', { name: 'acme' });
    expect(created.status).toBe(201);
    expect(created.json).toEqual({
      id: expect.stringMatching(/^acct_[0-9a-f]{32}$/),
      object: 'account',
      name: 'acme',
      play_money: true,
      disabled: false,
      available_microusd: '0',
      held_microusd: '0',
      low_balance_microusd: null,
      keep_answers: false,
      price_book: null,
      created_at: EPOCH_SECONDS,
    });
    const { json } = await harness.get(`/accounts/${createdId(created)}`);
    expect(json).toEqual({ ...(created.json as object), credits: [] });
  });

  it.each([
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'a', foo: 1 }, 'foo'],
  ])('is not created from %j', async (body, param) => {
    await expectError(harness.post('/accounts', body), 400, 'invalid_request', param);
  });

  it.each([
    'acct_00000000000000000000000000000000',
    'nonsense',
    'key_00000000000000000000000000000000',
    '%00',
    '..%2Faudit',
  ])('with the unknown id %s is 404', async (id) => {
    await expectError(harness.get(`/accounts/${id}`), 404, 'not_found');
    await expectError(harness.get(`/accounts/${id}/ledger`), 404, 'not_found');
    await expectError(harness.get(`/accounts/${id}/keys`), 404, 'not_found');
    await expectError(harness.post(`/accounts/${id}/keys`, {}), 404, 'not_found');
    await expectError(harness.credit(id, { amount_microusd: '1' }), 404, 'not_found');
  });
});

describe('a credit', () => {
  it('adds to the balance and answers its entry', async () => {
    const account = await harness.newAccount();
    const answer = await harness.credit(account, { amount_microusd: '5000000', note: 'invoice 7' });
    expect(answer.status).toBe(201);
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^entry_/),
      object: 'ledger_entry',
      account_id: account,
      kind: 'credit',
      correction_kind: null,
      amount_microusd: '5000000',
      balance_after_microusd: '5000000',
      granted_microusd: '0',
      reference: null,
      reason: null,
      note: 'invoice 7',
      idempotency_key: expect.any(String),
      credit_kind: 'paid',
      expires_at: null,
      payment_reference: null,
      currency: null,
      tax_microusd: null,
      created_at: EPOCH_SECONDS,
    });
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '5000000' });
  });

  it('replayed, even at the same time, happens once; with another amount it is 409 (G-86)', async () => {
    const account = await harness.newAccount();
    const body = { amount_microusd: '700' };
    const answers = await Promise.all(
      [1, 2, 3, 4, 5].map(() => harness.credit(account, body, 'key-1')),
    );
    const replay = await harness.credit(account, body, 'key-1');
    const replayed = answers.map(({ headers }) => headers.get('x-gateway-replayed'));
    expect(replayed.sort()).toEqual([null, 'true', 'true', 'true', 'true'].sort());
    expect(replay.headers.get('x-gateway-replayed')).toBe('true');
    for (const answer of [...answers, replay]) {
      expect(answer.status).toBe(201);
      expect(answer.json).toEqual(replay.json);
    }
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '700' });
    const other = harness.credit(account, { amount_microusd: '701' }, 'key-1');
    await expectError(other, 409, 'idempotency_conflict');
    const elsewhere = await harness.newAccount();
    expect((await harness.credit(elsewhere, { amount_microusd: '701' }, 'key-1')).status).toBe(201);
  });

  it('without an Idempotency-Key is 400', async () => {
    const account = await harness.newAccount();
    const body = { amount_microusd: '1' };
    const path = `/accounts/${account}/credits`;
    await expectError(harness.post(path, body), 400, 'invalid_request', 'Idempotency-Key');
    for (const key of ['', ' ', 'x'.repeat(201), 'a b']) {
      await expectError(
        harness.credit(account, body, key),
        400,
        'invalid_request',
        'Idempotency-Key',
      );
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
    const account = await harness.newAccount();
    const call = harness.credit(account, { amount_microusd: amount });
    await expectError(call, 400, 'invalid_request', 'amount_microusd');
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '0' });
  });

  it('with a leading minus corrects, and never below what is available', async () => {
    const account = await harness.newAccount();
    await harness.credit(account, { amount_microusd: '1000' });
    await expectError(harness.credit(account, { amount_microusd: '-1001' }), 409, 'conflict');
    const correction = await harness.credit(account, { amount_microusd: '-400' });
    expect(correction.json).toMatchObject({
      kind: 'correction',
      amount_microusd: '-400',
      balance_after_microusd: '600',
    });
    await harness.credit(account, { amount_microusd: '-600' });
    expect(await balanceOf(account)).toMatchObject({ available_microusd: '0' });
    await expectError(harness.credit(account, { amount_microusd: '-1' }), 409, 'conflict');
  });

  it('of the largest amount is made, and a larger one is 400 with the limit', async () => {
    const account = await harness.newAccount();
    const larger = harness.credit(account, { amount_microusd: '1000000000000001' });
    expect(errorOf(await larger).message).toBe(
      'amount_microusd must be a string of digits other than zero, at most 1000000000000000, with a leading minus on a correction.',
    );
    const key = harness.post(`/accounts/${account}/keys`, {
      spend_limit_microusd: '1000000000000001',
    });
    expect(errorOf(await key).message).toBe(
      'spend_limit_microusd must be a string of digits, at most 1000000000000000.',
    );
    const most = await harness.credit(account, { amount_microusd: '1000000000000000' });
    expect(most.status).toBe(201);
    await harness.credit(account, { amount_microusd: '-1000000000000000' });
  });

  it('beyond what a balance can hold is refused and changes nothing', async () => {
    const account = await harness.newAccount();
    const most = '9223372036854775807';
    const first = await harness.credit(account, { amount_microusd: most });
    expect([201, 400]).toContain(first.status);
    const second = await harness.credit(account, { amount_microusd: most });
    expect(second.status).toBeGreaterThanOrEqual(400);
    expect(second.status).toBeLessThan(500);
    errorOf(second);
    if (first.status === 201) await harness.credit(account, { amount_microusd: `-${most}` });
  });
});
