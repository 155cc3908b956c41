import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import {
  HELLO,
  PAID_ENDPOINTS,
  READ_PATHS,
  TASK_READS,
  TASK_SUBMISSIONS,
} from '../../support/paid-endpoints.js';
import { startRecordingServer, type RecordingServer } from '../../support/recording-server.js';
import { expectRefused } from '../../support/refusal.js';

const UNKNOWN_KEY = `sk-${'a'.repeat(43)}`;
const REFUSED = { status: 401, code: 'invalid_token', param: 'Authorization' } as const;
/** A revocation, an expiry and the end of an overlap take effect within this time. */
const EFFECT_MS = 2_000;
/** Long enough for a request before the end, on a busy machine too. */
const LIFE_S = 10;

let recordings: RecordingServer;
let gateway: TestGateway;
let accountId: string;
let key: string;

beforeAll(async () => {
  recordings = await startRecordingServer();
  gateway = await startTestGateway(recordings.settings);
  ({ accountId, key } = await gateway.account());
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await recordings.stop();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const speak = (headers: Record<string, string>, fields: object = {}) =>
  postJson(`${gateway.url}/v1/audio/speech`, headers, { ...HELLO, ...fields });
const readAccount = (token: string, on = gateway) =>
  send(`${on.url}/v1/account`, { headers: bearer(token) });
const admin = (method: string, path: string, body: object = {}) =>
  send(`${gateway.url}/admin${path}`, {
    method,
    headers: { ...bearer(ADMIN_TOKEN), 'content-type': 'application/json' },
    ...(method === 'POST' && { body: JSON.stringify(body) }),
  });

async function issue(terms: object = {}): Promise<{ id: string; key: string }> {
  const answer = await admin('POST', `/accounts/acct_${accountId.replaceAll('-', '')}/keys`, terms);
  expect(answer.status).toBe(201);
  return answer.json as { id: string; key: string };
}

/** Asks with the key until it is refused; fails when a request that was sent later than promised still passes. */
async function diesInTime(token: string, on = gateway): Promise<void> {
  const startedAt = performance.now();
  let askedAt = startedAt;
  while ((await readAccount(token, on)).status === 200) {
    if (askedAt - startedAt > EFFECT_MS) throw new Error('the key still lives');
    await sleep(50);
    askedAt = performance.now();
  }
  expect(errorOf(await readAccount(token, on)).code).toBe('invalid_token');
}

describe('without a key', () => {
  it.each(PAID_ENDPOINTS)(
    'POST $path is refused before anything is read (AUTH-01)',
    async (row) => {
      const call = () => postJson(gateway.url + row.path, {}, row.body(recordings.url));
      const { answer } = await expectRefused(gateway, accountId, call, REFUSED);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    },
  );

  it.each([...READ_PATHS, ...TASK_READS])('GET %s is refused (AUTH-01, AUTH-26)', async (path) => {
    await expectRefused(gateway, accountId, () => send(gateway.url + path), REFUSED);
  });

  it.each(PAID_ENDPOINTS)(
    'POST $path tells nothing about a bad request (AUTH-07, G-01)',
    async (row) => {
      const good = row.body(recordings.url);
      const bodies = ['{broken', { ...good, foo: 1 }, { ...good, model: 'no-such-model' }, []];
      for (const body of bodies) {
        const headers = { 'idempotency-key': 'abc', ...bearer(UNKNOWN_KEY) };
        const call = () => postJson(gateway.url + row.path, headers, body);
        await expectRefused(gateway, accountId, call, REFUSED);
      }
    },
  );
});

describe.each(TASK_SUBMISSIONS)('POST $path', ({ path, model }) => {
  it.each<[string, Record<string, string>]>([
    ['without a key', {}],
    ['with an unknown key', bearer(UNKNOWN_KEY)],
    ['with another scheme', { authorization: `Basic ${UNKNOWN_KEY}` }],
  ])('%s is refused before anything is read (AUTH-01, AUTH-02, AUTH-07)', async (_what, by) => {
    for (const body of ['{broken', {}, { model }, { model: 'no-such-model', foo: 1 }]) {
      const headers = { 'idempotency-key': 'abc', ...by };
      const call = () => postJson(gateway.url + path, headers, body);
      await expectRefused(gateway, accountId, call, REFUSED);
    }
  });
});

describe('a key', () => {
  it('starts with sk- and carries 256 random bits (AUTH-06, G-15)', async () => {
    const { key: fresh } = await issue();
    expect(fresh).toMatch(/^sk-[0-9A-Za-z]{43}$/);
    const [row] = await gateway.dataSource.query<Record<string, unknown>[]>(
      `SELECT * FROM api_key ORDER BY id DESC LIMIT 1`,
    );
    expect(JSON.stringify(row)).not.toContain(fresh);
  });

  it.each(['Bearer', 'bearer', 'BEARER'])(
    'is taken after the scheme %s (AUTH-05)',
    async (scheme) => {
      const answer = await send(`${gateway.url}/v1/account`, {
        headers: { authorization: `${scheme} ${key}` },
      });
      expect(answer.status).toBe(200);
    },
  );

  it('is refused in any other form of the header (AUTH-02, G-17)', async () => {
    const basic = Buffer.from(`user:${key}`).toString('base64');
    const forms = [
      `Basic ${basic}`,
      'Bearer',
      'Bearer ',
      key,
      `Bearer  ${key}`,
      `Bearer ${key} x`,
      `Bearer ${key},Bearer ${key}`,
      `Bearer "${key}"`,
      `Token ${key}`,
      `Bearer ${key.toLowerCase()}`,
      `Bearer ${key}a`,
      '',
    ];
    for (const authorization of forms) {
      await expectRefused(gateway, accountId, () => speak({ authorization }), REFUSED);
    }
  });

  it('is refused when it is well-formed but unknown, in the same words (AUTH-03)', async () => {
    const call = () => speak(bearer(UNKNOWN_KEY));
    const { error } = await expectRefused(gateway, accountId, call, REFUSED);
    const { error: missing } = await expectRefused(gateway, accountId, () => speak({}), REFUSED);
    expect(error).toEqual(missing);
  });

  it('is not read from the query, a cookie or x-api-key (AUTH-08, G-17)', async () => {
    const url = `${gateway.url}/v1/audio/speech`;
    const query = `?api_key=${key}&key=${key}&authorization=Bearer%20${key}`;
    await expectRefused(gateway, accountId, () => postJson(url + query, {}, HELLO), REFUSED);
    const elsewhere = [
      { cookie: `authorization=Bearer ${key}; api_key=${key}` },
      { 'x-api-key': key },
      { 'xi-api-key': key },
      { 'proxy-authorization': `Bearer ${key}` },
    ];
    for (const headers of elsewhere) {
      await expectRefused(gateway, accountId, () => speak(headers), REFUSED);
    }
  });

  it('that is revoked is refused within two seconds, on every replica (AUTH-04)', async () => {
    const replica = await startTestGateway({ DATABASE_URL: gateway.config.databaseUrl });
    const { id, key: revoked } = await issue();
    expect((await speak(bearer(revoked))).status).toBe(200);
    expect((await readAccount(revoked, replica)).status).toBe(200);
    expect((await admin('DELETE', `/keys/${id}`)).status).toBe(204);
    await Promise.all([diesInTime(revoked), diesInTime(revoked, replica)]);
    await expectRefused(gateway, accountId, () => speak(bearer(revoked)), REFUSED);
    expect((await readAccount(key, replica)).status).toBe(200);
    await replica.stop();
  });

  it('lives until it expires, and no longer', async () => {
    const expires_at = Math.floor(Date.now() / 1000) + LIFE_S;
    const { key: short } = await issue({ expires_at });
    expect((await readAccount(short)).status).toBe(200);
    await sleep(expires_at * 1000 - Date.now());
    await diesInTime(short);
  });

  it('that is rotated lives on for the overlap beside its successor', async () => {
    const terms = { name: 'ci', allowed_models: ['aud-v3'], requests_per_minute: 50 };
    const old = await issue(terms);
    const rotated = await admin('POST', `/keys/${old.id}/rotate`, { overlap_seconds: LIFE_S });
    expect(rotated.status).toBe(201);
    expect(rotated.json).toMatchObject(terms);
    const next = (rotated.json as { key: string }).key;
    expect([(await readAccount(old.key)).status, (await readAccount(next)).status]).toEqual([
      200, 200,
    ]);
    await sleep(LIFE_S * 1_000);
    await diesInTime(old.key);
    expect((await readAccount(next)).status).toBe(200);
  });

  it('that is rotated without an overlap is refused within two seconds', async () => {
    const old = await issue();
    expect((await admin('POST', `/keys/${old.id}/rotate`)).status).toBe(201);
    await diesInTime(old.key);
  });
});

describe('beyond the public API', () => {
  it('a key opens no operator call, and the operator token no /v1 (AUTH-30, G-16)', async () => {
    const operatorPaths = ['/admin/accounts', '/admin/audit', '/admin/executions'];
    for (const path of operatorPaths) {
      const answer = await send(gateway.url + path, { headers: bearer(key) });
      expect(errorOf(answer)).toMatchObject({ code: 'invalid_token' });
    }
    await expectRefused(gateway, accountId, () => speak(bearer(ADMIN_TOKEN)), REFUSED);
    for (const path of ['/v1/accounts', '/v1/audit', '/v1/balance']) {
      const answer = await send(gateway.url + path, { headers: bearer(key) });
      expect(errorOf(answer)).toMatchObject({ code: 'not_found' });
    }
  });
});
