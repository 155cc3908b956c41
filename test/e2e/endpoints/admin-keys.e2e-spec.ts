import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN, AdminHarness, expectError, createdId } from '../../support/admin-harness.js';
import { errorOf, send } from '../../support/http-answer.js';

const EPOCH_SECONDS = expect.any(Number);

let harness: AdminHarness;
beforeAll(async () => {
  harness = await AdminHarness.start();
});
afterAll(() => harness.stop());

describe('a list', () => {
  it('of ledger entries is newest first and read page by page', async () => {
    const account = await harness.newAccount();
    for (const amount of ['1', '2', '3', '4', '5']) {
      await harness.credit(account, { amount_microusd: amount });
    }
    const amounts: unknown[] = [];
    let cursor = '';
    for (;;) {
      const page = await harness.list(`/accounts/${account}/ledger?limit=2${cursor}`);
      expect(page.object).toBe('list');
      amounts.push(...page.data.map((entry) => entry.amount_microusd));
      expect(page.has_more).toBe(page.next_cursor !== null);
      if (page.next_cursor === null) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(amounts).toEqual(['5', '4', '3', '2', '1']);
    const whole = await harness.list(`/accounts/${account}/ledger?limit=5`);
    expect(whole).toMatchObject({ has_more: false, next_cursor: null });
  });

  it('of accounts is newest first, twenty by default', async () => {
    for (let index = 0; index < 21; index++) await harness.newAccount(`list ${index}`);
    const page = await harness.list('/accounts');
    expect(page.data).toHaveLength(20);
    expect(page.data[0]).toMatchObject({ name: 'list 20' });
    const next = await harness.list(`/accounts?limit=1&cursor=${page.next_cursor ?? ''}`);
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
    const account = await harness.newAccount();
    for (const path of ['/accounts', `/accounts/${account}/ledger`, '/executions']) {
      await expectError(harness.get(`${path}?${query}`), 400, 'invalid_request', param);
    }
  });

  it('refuses a parameter given twice', async () => {
    await expectError(harness.get('/accounts?limit=1&limit=2'), 400, 'invalid_request', 'limit');
  });
});

describe('a key', () => {
  it('shows its text once, and its terms always', async () => {
    const account = await harness.newAccount();
    const terms = {
      name: 'ci',
      allowed_models: ['aud-v4'],
      expires_at: 4_000_000_000,
      requests_per_minute: 30,
    };
    const issued = await harness.post(`/accounts/${account}/keys`, terms);
    expect(issued.json).toMatchObject({
      id: expect.stringMatching(/^key_[0-9a-f]{32}$/),
      object: 'api_key',
      key: expect.stringMatching(/^sk-/),
      ...terms,
    });
    const { key, ...rest } = issued.json as { key: string };
    const page = await harness.list(`/accounts/${account}/keys`);
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
    const account = await harness.newAccount();
    await expectError(
      harness.post(`/accounts/${account}/keys`, terms),
      400,
      'invalid_request',
      param,
    );
    expect((await harness.list(`/accounts/${account}/keys`)).data).toEqual([]);
  });

  it('is revoked, once and again; an unknown one is 404', async () => {
    const account = await harness.newAccount();
    const id = createdId(await harness.post(`/accounts/${account}/keys`, {}));
    const revoke = (key: string) =>
      send(`${harness.gateway.url}/admin/keys/${key}`, { method: 'DELETE', headers: ADMIN });
    expect([(await revoke(id)).status, (await revoke(id)).status]).toEqual([204, 204]);
    const [row] = (await harness.list(`/accounts/${account}/keys`)).data;
    expect(row).toMatchObject({ id, revoked_at: EPOCH_SECONDS });
    await expectError(revoke('key_00000000000000000000000000000000'), 404, 'not_found');
    await expectError(harness.post(`/keys/${id}/rotate`, {}), 404, 'not_found');
  });

  it('is not rotated again in its overlap, whose end would be the expiry of the new key', async () => {
    const account = await harness.newAccount();
    const id = createdId(await harness.post(`/accounts/${account}/keys`, {}));
    const overlap = { overlap_seconds: 3_600 };
    const successor = createdId(await harness.post(`/keys/${id}/rotate`, overlap));
    const again = await harness.post(`/keys/${id}/rotate`, overlap);
    await expectError(again, 409, 'conflict');
    expect(errorOf(again).message).toContain(successor);
    expect((await harness.post(`/keys/${successor}/rotate`, {})).json).toMatchObject({
      expires_at: null,
    });
    expect((await harness.list(`/accounts/${account}/keys`)).data).toHaveLength(3);
  });

  it('is rotated again when its overlap was replaced by an expiry of its own', async () => {
    const account = await harness.newAccount();
    const id = createdId(await harness.post(`/accounts/${account}/keys`, {}));
    await harness.post(`/keys/${id}/rotate`, { overlap_seconds: 3_600 });
    expect((await harness.ask('PATCH', `/keys/${id}`, { name: 'b' })).status).toBe(200);
    await expectError(harness.post(`/keys/${id}/rotate`, {}), 409, 'conflict');
    expect((await harness.ask('PATCH', `/keys/${id}`, { expires_at: null })).status).toBe(200);
    expect((await harness.post(`/keys/${id}/rotate`, {})).json).toMatchObject({ expires_at: null });
  });

  it.each([-1, 1.5, '1', 1e12])('is not rotated with an overlap of %j seconds', async (overlap) => {
    const account = await harness.newAccount();
    const id = createdId(await harness.post(`/accounts/${account}/keys`, {}));
    const call = harness.post(`/keys/${id}/rotate`, { overlap_seconds: overlap });
    await expectError(call, 400, 'invalid_request', 'overlap_seconds');
    expect((await harness.list(`/accounts/${account}/keys`)).data).toHaveLength(1);
  });
});
