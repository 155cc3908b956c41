import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/common/time/clock.js';
import type { StubUpstream } from '../support/stub-upstream.js';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../support/stub-speech.js';

/** An open breaker rests this long. */
const REST_MS = 10_000;
const OVERLAY = join(mkdtempSync(join(tmpdir(), 'shim-routes-')), 'overlay.json');
const KEY_VARIABLE = 'SHIM_TEST_BACKUP_KEY';

let first: StubUpstream;
let backup: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  [first, backup] = await Promise.all([startStubSpeech(), startStubSpeech()]);
  process.env[KEY_VARIABLE] = 'backup-provider-key';
  const routes = ['elevenlabs', 'backup'].map((provider) => ({ provider, upstream_model: 'm' }));
  const provider = { id: 'backup', protocol: 'elevenlabs', api_key_env: KEY_VARIABLE };
  const nowhere = { ...provider, id: 'nowhere', base_url: 'http://127.0.0.1:1' };
  const detour = [{ provider: 'nowhere', upstream_model: 'm' }, ...routes];
  const dead = [{ provider: 'nowhere', upstream_model: 'm' }];
  const overlay = {
    models: [
      { id: 'aud-v4', routes },
      { id: 'aud-v3', routes: routes.slice(0, 1) },
      { id: 'aud-flash-v2.5', routes: detour },
      { id: 'aud-multilingual-v2', routes: dead },
    ],
    providers: [{ ...provider, base_url: backup.url }, nowhere],
  };
  writeFileSync(OVERLAY, JSON.stringify(overlay));
  gateway = await startTestGateway({
    ...servedBy(first),
    CATALOG_FILE: OVERLAY,
    UPSTREAM_TIMEOUT_MS: '2000',
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.provesClean();
  await gateway.stop();
  await Promise.all([first.stop(), backup.stop()]);
});

const speak = (fields: object = {}) =>
  postJson(`${gateway.url}/v1/audio/speech`, account.headers, { ...HELLO, ...fields });
const works = (stub: StubUpstream) => {
  stub.reply = (response) => response.end(MP3_HEAD);
};
const fails = (stub: StubUpstream, status: number) => {
  stub.reply = (response) => response.writeHead(status).end('{}');
};

const failing = (status: number) => (stub: StubUpstream) => {
  fails(stub, status);
};

/** Makes time pass for the gateway. */
function advance(ms: number): void {
  const clock = gateway.app.get(Clock);
  const now = clock.nowMs.bind(clock);
  clock.nowMs = () => now() + ms;
}

/** Requests each provider got, and the money spent, while `call` ran. */
async function spending<T>(call: () => Promise<T>) {
  const before = (await gateway.balance(account.accountId)).available;
  const seen = [first.seen.length, backup.seen.length] as const;
  const result = await call();
  return {
    result,
    calls: [first.seen.length - seen[0], backup.seen.length - seen[1]],
    spent: before - (await gateway.balance(account.accountId)).available,
  };
}

const executionOf = async (answer: Answer) =>
  (
    await send(
      `${gateway.url}/admin/executions/${answer.headers.get('x-gateway-execution-id') ?? ''}`,
      { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } },
    )
  ).json;

describe('a model with a second route', () => {
  /** Breakers closed, whatever the test before did. */
  beforeEach(async () => {
    works(first);
    works(backup);
    advance(REST_MS);
    for (let good = 0; good < 2; good++) await speak({ model: 'aud-v3' });
  });

  it.each([429, 503, 401, 402, 403, 404])(
    'is served there when the first answers %i and has done nothing',
    async (status) => {
      fails(first, status);
      const { result, calls, spent } = await spending(() => speak());
      expect(result.status).toBe(200);
      expect({ calls, spent }).toEqual({ calls: [1, 1], spent: 600n });
      expect(backup.seen.at(-1)?.headers['xi-api-key']).toBe('backup-provider-key');
      expect(await executionOf(result)).toMatchObject({ provider: 'backup' });
    },
  );

  it('is served there when the first cannot be reached', async () => {
    const { result, calls, spent } = await spending(() => speak({ model: 'aud-flash-v2.5' }));
    expect(result.status).toBe(200);
    expect({ calls, spent }).toEqual({ calls: [1, 0], spent: 300n });
    expect(await executionOf(result)).toMatchObject({ provider: 'elevenlabs' });
  });

  it.each([
    ['500', 'provider_http_error', failing(500)],
    ['400', 'provider_rejected_request', failing(400)],
    ['504', 'provider_timeout', failing(504)],
    [
      'nothing',
      'provider_timeout',
      (stub: StubUpstream) => {
        stub.reply = () => undefined;
      },
    ],
    [
      'a web page',
      'provider_http_error',
      (stub: StubUpstream) => {
        stub.reply = (response) => response.end('<!doctype html>');
      },
    ],
    [
      'a cut connection',
      'provider_http_error',
      (stub: StubUpstream) => {
        stub.reply = (response) => response.destroy();
      },
    ],
  ])('is not asked for twice when the first answers %s', async (_what, code, spoil) => {
    spoil(first);
    const { result, calls, spent } = await spending(() => speak());
    expect(errorOf(result).code).toBe(code);
    expect({ calls, spent }).toEqual({ calls: [1, 0], spent: 0n });
  });

  it('tells of the rate limit when every route limits, with its Retry-After (SPEECH-13)', async () => {
    for (const stub of [first, backup]) {
      stub.reply = (response) => response.writeHead(429, { 'retry-after': '4' }).end('{}');
    }
    const { result, calls, spent } = await spending(() => speak());
    expect(errorOf(result).code).toBe('provider_rate_limited');
    expect(result.headers.get('retry-after')).toBe('4');
    expect({ calls, spent }).toEqual({ calls: [1, 1], spent: 0n });
  });

  it('is unavailable when every route is down (SPEECH-13)', async () => {
    fails(first, 503);
    fails(backup, 503);
    const both = await spending(() => speak());
    expect({ status: both.result.status, code: errorOf(both.result).code }).toEqual({
      status: 503,
      code: 'provider_unavailable',
    });
    expect({ calls: both.calls, spent: both.spent }).toEqual({ calls: [1, 1], spent: 0n });
    const none = await spending(() => speak({ model: 'aud-multilingual-v2' }));
    expect(errorOf(none.result).code).toBe('provider_unavailable');
    expect({ calls: none.calls, spent: none.spent }).toEqual({ calls: [0, 0], spent: 0n });
  });
});
