import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { KeyTerms } from '../../../src/auth/api-keys.service.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, send } from '../../support/http-answer.js';
import { stopClock } from '../../support/stopped-clock.js';
import { until } from '../../support/until.js';

const MANAGER: Partial<KeyTerms> = { scopes: ['read', 'call', 'manage'] };
/** Changes that a key may ask for in a minute. */
const ACTS = 120;

let gateway: TestGateway;
let accountId: string;
let manager: string;

beforeAll(async () => {
  gateway = await startTestGateway({ RATE_LIMIT_RPM: '5000' });
  stopClock(gateway);
});
afterAll(() => gateway.stop());
beforeEach(async () => {
  ({ accountId } = await gateway.account());
});

function ask(method: string, path: string, body?: object, key = manager): Promise<Answer> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  return send(`${gateway.url}${path}`, init);
}
async function make(terms: object = {}): Promise<{ readonly id: string; readonly key: string }> {
  const answer = await ask('POST', '/v1/keys', terms);
  expect(answer.status).toBe(201);
  return answer.json as { id: string; key: string };
}
const managerWith = async (terms: Partial<KeyTerms>) => {
  manager = await gateway.keyOf(accountId, { ...MANAGER, ...terms });
};
const refusalOf = (answer: Answer) => {
  const { code, param } = errorOf(answer);
  return [answer.status, code, param];
};

describe('the limit of a made key', () => {
  it.each([
    ['total', '3100', 'day', false],
    ['total', '3100', 'month', false],
    ['total', '0', 'day', true],
    ['total', '3100', 'total', true],
    ['month', '3100', 'day', false],
    ['month', '101', 'day', false],
    ['month', '100', 'day', true],
    ['month', '3100', 'total', true],
    ['day', '3100', 'day', true],
    ['day', '3100', 'month', true],
  ] as const)(
    'of a maker with 3,100 per %s may be %s per %s: %s',
    async (makerPeriod, amount, period, isAllowed) => {
      await managerWith({ spendLimitMicroUsd: 3_100n, spendLimitPeriod: makerPeriod });
      const terms = { spend_limit_microusd: amount, spend_limit_period: period };
      const made = await ask('POST', '/v1/keys', terms);
      const { id } = await make();
      const changed = await ask('PATCH', `/v1/keys/${id}`, terms);
      if (isAllowed) expect([made.status, changed.status]).toEqual([201, 200]);
      else {
        const refusal = [403, 'permission_denied', 'spend_limit_period'];
        expect([made, changed].map(refusalOf)).toEqual([refusal, refusal]);
      }
    },
  );

  it('stays as it is where the maker gets a shorter one and another term changes', async () => {
    await managerWith({ spendLimitMicroUsd: 3_100n, spendLimitPeriod: 'day' });
    const { id } = await make();
    const { id: maker } = (await ask('GET', '/v1/key')).json as { id: string };
    const lower = { spend_limit_microusd: '10', spend_limit_period: 'month' };
    expect((await ask('PATCH', `/admin/keys/${maker}`, lower, ADMIN_TOKEN)).status).toBe(200);
    expect((await ask('PATCH', `/v1/keys/${id}`, { name: 'b' })).status).toBe(200);
  });
});

it('requests of made keys count for their maker, whose limit they do not multiply', async () => {
  await managerWith({ requestsPerMinute: 6 });
  const keys = [(await make()).key, (await make()).key];
  const account = (key?: string) => ask('GET', '/v1/account', undefined, key);
  // The maker has made two keys of six requests; reads have a limit of their own, ten times as many.
  const submit = (key?: string) => ask('POST', '/v1/audio/speech', {}, key);
  for (const left of ['3', '2', '1', '0']) {
    const answer = await submit(keys[Number(left) % 2]);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe(left);
  }
  for (const key of [...keys, manager]) {
    const refused = await submit(key);
    expect(refusalOf(refused)).toEqual([429, 'rate_limit_exceeded', null]);
    expect(refused.headers.get('retry-after')).toBe('10');
  }
  const told = errorOf(await submit(keys[0])).message;
  expect(told).toContain('The key that made this API key');
  for (const key of keys) expect((await account(key)).status).toBe(200);
  expect((await account()).headers.get('x-ratelimit-remaining-requests')).toBe('57');
});

it('what a made key sends beyond its own rate is not taken from its maker', async () => {
  await managerWith({ requestsPerMinute: 5 });
  const { key } = await make({ requests_per_minute: 1 });
  const submit = (by: string) => ask('POST', '/v1/audio/speech', {}, by);
  const statuses = [await submit(key), await submit(key), await submit(key)];
  expect(statuses.map(({ status }) => status)).toEqual([400, 429, 429]);
  expect((await submit(manager)).headers.get('x-ratelimit-remaining-requests')).toBe('2');
});

it('a key asks for a bounded number of changes a minute; what is above is refused and not recorded', async () => {
  await managerWith({});
  const answers = await Promise.all(
    Array.from({ length: ACTS + 5 }, () => ask('DELETE', '/v1/keys/key_nothing')),
  );
  const statuses = answers.map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array<number>(ACTS).fill(404), ...Array<number>(5).fill(429)]);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.headers.get('retry-after')).toBe('1');
  const { id } = (await ask('GET', '/v1/key')).json as { id: string };
  const rows = await gateway.dataSource.query<unknown[]>(
    'SELECT FROM operator_action WHERE actor = $1',
    [id],
  );
  expect(rows).toHaveLength(ACTS);
});

it('GET /v1/key of a made key shows the terms that its maker leaves it', async () => {
  await managerWith({});
  const { key } = await make({ allowed_models: ['aud-v4', 'gen-5'], scopes: ['read', 'call'] });
  const { id: maker } = (await ask('GET', '/v1/key')).json as { id: string };
  const expires = 4_102_444_800;
  const less = {
    allowed_models: ['aud-v4'],
    requests_per_minute: 7,
    expires_at: expires,
    scopes: ['call', 'manage'],
  };
  expect((await ask('PATCH', `/admin/keys/${maker}`, less, ADMIN_TOKEN)).status).toBe(200);
  const shown = async () => (await ask('GET', '/v1/key', undefined, key)).json as object;
  await until(async () => ((await shown()) as { expires_at: unknown }).expires_at === expires);
  expect(await shown()).toMatchObject({ ...less, scopes: ['call'] });
});
