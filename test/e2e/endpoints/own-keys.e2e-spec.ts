import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { KeyTerms } from '../../../src/auth/api-keys.service.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { until } from '../../support/until.js';

/** What HELLO costs. */
const PRICE = 600n;
const MANAGER: Partial<KeyTerms> = { scopes: ['read', 'call', 'manage'] };

interface Key {
  readonly id: string;
  readonly key: string;
  readonly made_by: string | null;
  readonly scopes: string[];
}

let gateway: TestGateway;
let accountId: string;
let manager: string;

beforeAll(async () => {
  gateway = await startTestGateway({ RATE_LIMIT_RPM: '5000' });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});
beforeEach(async () => {
  ({ accountId } = await gateway.account());
  manager = await gateway.keyOf(accountId, MANAGER);
});

function ask(method: string, path: string, body?: object, key = manager): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return send(`${gateway.url}${path}`, init);
}
async function make(terms: object = {}, key = manager): Promise<Key> {
  const answer = await ask('POST', '/v1/keys', terms, key);
  expect(answer.status).toBe(201);
  return answer.json as Key;
}
const refusalOf = (answer: Answer) => {
  const { code, param } = errorOf(answer);
  return [answer.status, code, param];
};
const speak = ({ key }: Pick<Key, 'key'>) =>
  postJson(`${gateway.url}/v1/audio/speech`, { authorization: `Bearer ${key}` }, HELLO);
const idOf = async (key: string) => ((await ask('GET', '/v1/key', undefined, key)).json as Key).id;

describe('POST /v1/keys', () => {
  it('makes a key with what the maker has where the body says nothing', async () => {
    const expires = Math.floor(Date.now() / 1000) + 3_600;
    const terms: Partial<KeyTerms> = {
      ...MANAGER,
      allowedModels: ['aud-v4'],
      expiresAt: new Date(expires * 1000),
      requestsPerMinute: 50,
      spendLimitMicroUsd: 5_000n,
      spendLimitPeriod: 'day',
    };
    manager = await gateway.keyOf(accountId, terms);
    const made = await make({ name: 'agent' });
    expect(made).toMatchObject({
      object: 'api_key',
      key: expect.stringMatching(/^sk-/),
      name: 'agent',
      allowed_models: ['aud-v4'],
      expires_at: expires,
      requests_per_minute: 50,
      spend_limit_microusd: '5000',
      spend_limit_period: 'day',
      scopes: ['read', 'call'],
      made_by: await idOf(manager),
    });
    expect((await speak(made)).status).toBe(200);
    expect((await ask('GET', '/v1/keys', undefined, made.key)).status).toBe(403);
  });

  it.each<[object, string]>([
    [{ scopes: ['call', 'manage'] }, 'scopes'],
    [{ scopes: ['call'] }, 'scopes'],
    [{ allowed_models: ['aud-v4', 'gen-5'] }, 'allowed_models'],
    [{ expires_at: 4_102_444_800 }, 'expires_at'],
    [{ requests_per_minute: 51 }, 'requests_per_minute'],
    [{ spend_limit_microusd: '5001', spend_limit_period: 'day' }, 'spend_limit_microusd'],
  ])('refuses %j, which goes beyond the maker, with 403', async (terms, param) => {
    manager = await gateway.keyOf(accountId, {
      scopes: ['read', 'manage'],
      allowedModels: ['aud-v4'],
      expiresAt: new Date(Date.now() + 3_600_000),
      requestsPerMinute: 50,
      spendLimitMicroUsd: 5_000n,
      spendLimitPeriod: 'day',
    });
    const refused = await ask('POST', '/v1/keys', terms);
    expect(refusalOf(refused)).toEqual([403, 'permission_denied', param]);
  });

  it('refuses a higher rate than the gateway gives the maker, and a key of one that has manage alone', async () => {
    const fast = await ask('POST', '/v1/keys', { requests_per_minute: 10_000_000 });
    expect(refusalOf(fast)).toEqual([403, 'permission_denied', 'requests_per_minute']);
    manager = await gateway.keyOf(accountId, { scopes: ['manage'] });
    const none = await ask('POST', '/v1/keys', {});
    expect(refusalOf(none)).toEqual([403, 'permission_denied', 'scopes']);
  });

  it.each<[object, string]>([
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes'],
    [{ scopes: 'read' }, 'scopes'],
    [{ spend_limit_microusd: '-1' }, 'spend_limit_microusd'],
    [{ expires_at: 5 }, 'expires_at'],
    [{ allowed_models: ['no-such'] }, 'allowed_models'],
    [{ account_id: 'x' }, 'account_id'],
  ])('refuses %j with 400', async (terms, param) => {
    const [status, code, named] = refusalOf(await ask('POST', '/v1/keys', terms));
    expect([status, code]).toEqual([400, 'invalid_request']);
    expect(String(named).split('.')[0]).toBe(param);
  });

  it('makes at most 100 live keys, at once too; one that ends makes room', async () => {
    const first = await make();
    // On a busy machine some wait too long for a connection; they come again, as clients do.
    const made = async (): Promise<Answer> => {
      const answer = await ask('POST', '/v1/keys', {});
      return answer.status === 503 ? made() : answer;
    };
    const answers = await Promise.all(Array.from({ length: 104 }, made));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(99);
    expect(statuses.filter((status) => status === 409)).toHaveLength(5);
    expect((await ask('DELETE', `/v1/keys/${first.id}`)).status).toBe(204);
    await make();
  });
});

describe('a key that another key made', () => {
  it('spends what its maker may spend, together with the maker', async () => {
    const terms = { spendLimitMicroUsd: PRICE * 3n, spendLimitPeriod: 'day' as const };
    manager = await gateway.keyOf(accountId, { ...MANAGER, ...terms });
    const [one, two] = [await make(), await make({ spend_limit_microusd: PRICE.toString() })];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => speak([one, two, { key: manager }][n % 3] ?? one)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(3);
    expect(statuses.filter((status) => status === 402)).toHaveLength(9);
    const over = await speak(one);
    expect(refusalOf(over)).toEqual([402, 'insufficient_funds', 'spend_limit']);
    expect(errorOf(over).message).toContain('the key that made it');
    const left = (await ask('GET', '/v1/key', undefined, one.key)).json;
    expect(left).toMatchObject({ left_microusd: '0' });
  });

  it('ends within 2 s of its maker, and loses what its maker loses', async () => {
    const made = await make({ scopes: ['read', 'call'] });
    expect((await speak(made)).status).toBe(200);
    const path = `/admin/keys/${await idOf(manager)}`;
    await ask('PATCH', path, { scopes: ['read', 'manage'] }, ADMIN_TOKEN);
    await until(async () => (await speak(made)).status === 403);
    await ask('PATCH', path, { scopes: null, allowed_models: ['gen-5'] }, ADMIN_TOKEN);
    await until(async () => errorOf(await speak(made)).code === 'api_key_model_not_allowed');
    await ask('DELETE', path, undefined, ADMIN_TOKEN);
    await until(async () => (await speak(made)).status === 401);
  });

  it('is its successor’s when its maker is rotated', async () => {
    const made = await make();
    const path = `/admin/keys/${await idOf(manager)}/rotate`;
    const rotated = (await ask('POST', path, {}, ADMIN_TOKEN)).json as Key;
    expect((await speak(made)).status).toBe(200);
    manager = rotated.key;
    const shown = (await ask('GET', `/v1/keys/${made.id}`)).json;
    expect(shown).toMatchObject({ made_by: rotated.id });
    expect((await ask('DELETE', `/v1/keys/${made.id}`)).status).toBe(204);
    await until(async () => (await speak(made)).status === 401);
  });

  it('never gets manage, not from an operator either', async () => {
    const { id } = await make();
    const answer = await ask('PATCH', `/admin/keys/${id}`, { scopes: ['manage'] }, ADMIN_TOKEN);
    expect(refusalOf(answer)).toEqual([400, 'invalid_request', 'scopes']);
  });
});

describe('PATCH and DELETE /v1/keys/{id}', () => {
  it('change keys that the key made, within its own power', async () => {
    const terms = { spendLimitMicroUsd: 5_000n, spendLimitPeriod: 'day' as const };
    manager = await gateway.keyOf(accountId, { ...MANAGER, ...terms });
    const { id } = await make();
    const patch = (body: object) => ask('PATCH', `/v1/keys/${id}`, body);
    expect((await patch({ name: 'b', scopes: ['call'] })).json).toMatchObject({
      name: 'b',
      scopes: ['call'],
      spend_limit_microusd: '5000',
    });
    const more = await patch({ spend_limit_microusd: '5001' });
    expect(refusalOf(more)).toEqual([403, 'permission_denied', 'spend_limit_microusd']);
    const none = await patch({ spend_limit_microusd: null });
    expect(refusalOf(none)).toEqual([403, 'permission_denied', 'spend_limit_microusd']);
    expect((await patch({ spend_limit_microusd: '10' })).status).toBe(200);
    expect((await ask('DELETE', `/v1/keys/${id}`)).status).toBe(204);
    expect((await ask('DELETE', `/v1/keys/${id}`)).status).toBe(204);
    expect(refusalOf(await patch({ name: 'c' }))).toEqual([409, 'conflict', null]);
  });

  it('leave alone the key itself but for its name, keys of others, and other accounts', async () => {
    const own = await idOf(manager);
    expect((await ask('PATCH', `/v1/keys/${own}`, { name: 'me' })).json).toMatchObject({
      name: 'me',
    });
    const self = await ask('PATCH', `/v1/keys/${own}`, { name: 'me', requests_per_minute: 5 });
    expect(refusalOf(self)).toEqual([403, 'permission_denied', 'requests_per_minute']);
    const denied = [403, 'permission_denied', null];
    expect(refusalOf(await ask('DELETE', `/v1/keys/${own}`))).toEqual(denied);
    const other = await idOf(await gateway.keyOf(accountId));
    expect(refusalOf(await ask('PATCH', `/v1/keys/${other}`, { name: 'x' }))).toEqual(denied);
    expect(refusalOf(await ask('DELETE', `/v1/keys/${other}`))).toEqual(denied);
    const foreign = await idOf((await gateway.account()).key);
    for (const id of [foreign, 'key_nothing'])
      for (const method of ['GET', 'DELETE'])
        expect((await ask(method, `/v1/keys/${id}`)).status).toBe(404);
  });

  it('are recorded with the key that did it, and listed for operators', async () => {
    const made = await make({ name: 'agent' });
    await ask('PATCH', `/v1/keys/${made.id}`, { name: 'b' });
    await ask('POST', '/v1/keys', { scopes: ['manage'] });
    await ask('DELETE', `/v1/keys/${made.id}`);
    const actor = await idOf(manager);
    const path = `/admin/operator-actions?actor=${actor}`;
    const { data } = (await ask('GET', path, undefined, ADMIN_TOKEN)).json as {
      data: Record<string, unknown>[];
    };
    const account = `acct_${accountId.replaceAll('-', '')}`;
    expect(data).toMatchObject([
      { action: 'key:revoke', target: made.id, outcome: 'done' },
      { action: 'key:create', target: account, outcome: 'permission_denied' },
      { action: 'key:update', target: made.id, before: { name: 'agent' }, after: { name: 'b' } },
      { action: 'key:create', target: account, made: made.id, actor, outcome: 'done' },
    ]);
    expect(JSON.stringify(data)).not.toContain(made.key);
  });

  it('are shown by GET /v1/keys, newest first', async () => {
    const made = await make();
    const { data } = (await ask('GET', '/v1/keys?limit=2')).json as { data: Key[] };
    expect(data.map(({ id }) => id)).toEqual([made.id, await idOf(manager)]);
    expect(JSON.stringify(data)).not.toContain('"key"');
  });
});
