import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { AdminHarness, expectError } from '../../support/admin-harness.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';

const PAST = 1_000_000_000;
const FUTURE = 4_000_000_000;
const GIVE_UP_MS = 60_000;

let harness: AdminHarness;
let account: string;

beforeAll(async () => {
  harness = await AdminHarness.start();
  account = toPublicId('acct', (await harness.gateway.account()).accountId);
});
afterAll(() => harness.stop());

const issue = async (terms: object = {}) =>
  (await harness.ask('POST', `/accounts/${account}/keys`, terms)).json as {
    id: string;
    key: string;
  };
const speak = (key: string) =>
  postJson(`${harness.gateway.url}/v1/audio/speech`, { authorization: `Bearer ${key}` }, HELLO);
const until = async (holds: () => Promise<boolean>) => {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await holds())) {
    expect(performance.now()).toBeLessThan(giveUpAt);
    await sleep(50);
  }
};

const BAD_TERMS: [object, string][] = [
  [{ allowed_models: ['aud-v4', 'aud-v9'] }, 'allowed_models'],
  [{ expires_at: PAST }, 'expires_at'],
  [{ spend_limit_microusd: 5 }, 'spend_limit_microusd'],
  [{ spend_limit_microusd: '-5' }, 'spend_limit_microusd'],
  [{ spend_limit_microusd: '-0' }, 'spend_limit_microusd'],
  [{ spend_limit_microusd: '1.5' }, 'spend_limit_microusd'],
  [{ spend_limit_microusd: '5', spend_limit_period: 'week' }, 'spend_limit_period'],
  [{ spend_limit_period: 'day' }, 'spend_limit_period'],
  [{ name: '' }, 'name'],
  [{ foo: 1 }, 'foo'],
];

describe('the terms of a key', () => {
  it.each(BAD_TERMS)('cannot be %j, neither at first nor later', async (terms, param) => {
    const created = await harness.ask('POST', `/accounts/${account}/keys`, terms);
    await expectError(created, 400, 'invalid_request', param);
    const { id } = await issue();
    const before = (await harness.ask('GET', `/keys/${id}`)).json;
    await expectError(harness.ask('PATCH', `/keys/${id}`, terms), 400, 'invalid_request', param);
    expect((await harness.ask('GET', `/keys/${id}`)).json).toEqual(before);
  });

  it.each([{}, { spend_limit_period: null }])('stay as they are under %j', async (terms) => {
    const { id } = await issue({ name: 'ci' });
    const answer = await harness.ask('PATCH', `/keys/${id}`, terms);
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ id, name: 'ci', spend_limit_microusd: null });
  });

  it('change as requested; absent fields stay, and null clears', async () => {
    const { id } = await issue({ name: 'ci', allowed_models: ['gen-5'] });
    const terms = {
      allowed_models: ['aud-v4'],
      requests_per_minute: 7,
      expires_at: FUTURE,
      spend_limit_microusd: '5000000',
      spend_limit_period: 'month',
    };
    const changed = await harness.ask('PATCH', `/keys/${id}`, terms);
    expect(changed.status).toBe(200);
    expect(changed.json).toMatchObject({ id, object: 'api_key', name: 'ci', ...terms });
    expect((await harness.ask('GET', `/keys/${id}`)).json).toEqual(changed.json);
    const cleared = await harness.ask('PATCH', `/keys/${id}`, {
      name: null,
      allowed_models: null,
      requests_per_minute: null,
      expires_at: null,
      spend_limit_microusd: null,
    });
    expect(cleared.json).toMatchObject({
      name: null,
      allowed_models: null,
      requests_per_minute: null,
      expires_at: null,
      spend_limit_microusd: null,
      spend_limit_period: null,
    });
  });

  it('have a limit in all where no period is named, and a new amount keeps the period', async () => {
    const { id } = await issue({ spend_limit_microusd: '5' });
    const patch = async (body: object) => (await harness.ask('PATCH', `/keys/${id}`, body)).json;
    expect(await patch({})).toMatchObject({ spend_limit_period: 'total' });
    expect(await patch({ spend_limit_period: 'day' })).toMatchObject({ spend_limit_period: 'day' });
    expect(await patch({ spend_limit_microusd: '6' })).toMatchObject({
      spend_limit_microusd: '6',
      spend_limit_period: 'day',
    });
  });

  it('hold within 2 s: a model that was struck off is refused', async () => {
    const { id, key } = await issue();
    expect((await speak(key)).status).toBe(200);
    await harness.ask('PATCH', `/keys/${id}`, { allowed_models: ['gen-5'] });
    await sleep(2_000);
    await expectError(speak(key), 403, 'api_key_model_not_allowed', 'model');
  });

  it('of a revoked key do not change (409); an unknown key is 404', async () => {
    const { id } = await issue();
    await harness.ask('DELETE', `/keys/${id}`);
    await expectError(harness.ask('PATCH', `/keys/${id}`, { name: 'late' }), 409, 'conflict', null);
    const unknown = '/keys/key_00000000000000000000000000000000';
    await expectError(harness.ask('PATCH', unknown, { name: 'x' }), 404, 'not_found', 'id');
    await expectError(harness.ask('GET', unknown), 404, 'not_found', 'id');
  });

  it('stay with its successor', async () => {
    const terms = { spend_limit_microusd: '7', spend_limit_period: 'day' };
    const { id } = await issue(terms);
    expect((await harness.ask('POST', `/keys/${id}/rotate`, {})).json).toMatchObject(terms);
  });
});

describe('the last use of a key', () => {
  const lastUseOf = async (id: string) =>
    ((await harness.ask('GET', `/keys/${id}`)).json as { last_used_at: number | null })
      .last_used_at;

  it('is null before the first request, then about now, in lists too', async () => {
    const { id, key } = await issue();
    expect(await lastUseOf(id)).toBeNull();
    const from = Math.floor(Date.now() / 1000);
    await send(`${harness.gateway.url}/v1/account`, {
      headers: { authorization: `Bearer ${key}` },
    });
    await until(async () => (await lastUseOf(id)) !== null);
    const usedAt = await lastUseOf(id);
    expect(usedAt).toBeGreaterThanOrEqual(from);
    expect(usedAt).toBeLessThanOrEqual(Date.now() / 1000);
    const page = (await harness.ask('GET', `/accounts/${account}/keys?limit=1`)).json;
    expect((page as { data: object[] }).data[0]).toMatchObject({ id, last_used_at: usedAt });
  });

  it('is written once for many requests of a minute, and drops no key from memory', async () => {
    const { id, key } = await issue();
    const read = () =>
      harness.gateway.dataSource.query<{ row: string }[]>(
        `SELECT (u.xmin, k.changed_at)::text AS row FROM api_key_use u JOIN api_key k ON k.id = u.api_key_id
        WHERE k.id = $1`,
        [
          `${id.slice(4, 12)}-${id.slice(12, 16)}-${id.slice(16, 20)}-${id.slice(20, 24)}-${id.slice(24)}`,
        ],
      );
    const headers = { authorization: `Bearer ${key}` };
    await send(`${harness.gateway.url}/v1/account`, { headers });
    await until(async () => (await read()).length > 0);
    const first = await read();
    for (let index = 0; index < 5; index++) {
      await send(`${harness.gateway.url}/v1/account`, { headers });
      await sleep(200);
    }
    expect(await read()).toEqual(first);
  });
});
