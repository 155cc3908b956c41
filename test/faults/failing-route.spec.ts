import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Clock } from '../../src/common/time/clock.js';
import type { StubUpstream } from '../support/stub-upstream.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { errorOf, postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../support/stub-speech.js';

/** An open breaker rests this long. */
const REST_MS = 10_000;
/** So many failures in a row open a breaker. */
const FAILURES = 10;
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

describe('a route that keeps failing', () => {
  const failInARow = async () => {
    fails(first, 500);
    for (let call = 0; call < FAILURES; call++) {
      expect(errorOf(await speak({ model: 'aud-v3' })).code).toBe('provider_http_error');
    }
  };

  it('is taken out of use, tried again after a rest, and comes back (SPEECH-13)', async () => {
    works(first);
    advance(2 * REST_MS);
    await speak({ model: 'aud-v3' });
    await failInARow();
    const open = await spending(() => speak({ model: 'aud-v3' }));
    expect({ status: open.result.status, code: errorOf(open.result).code }).toEqual({
      status: 503,
      code: 'provider_unavailable',
    });
    expect({ calls: open.calls, spent: open.spent }).toEqual({ calls: [0, 0], spent: 0n });

    advance(REST_MS);
    const failedProbe = await spending(() => speak({ model: 'aud-v3' }));
    expect(failedProbe.calls).toEqual([1, 0]);
    expect((await spending(() => speak({ model: 'aud-v3' }))).calls).toEqual([0, 0]);

    works(first);
    expect((await spending(() => speak({ model: 'aud-v3' }))).calls).toEqual([0, 0]);
    advance(REST_MS);
    for (let call = 0; call < 3; call++) {
      const back = await spending(() => speak({ model: 'aud-v3' }));
      expect(back.result.status).toBe(200);
      expect({ calls: back.calls, spent: back.spent }).toEqual({ calls: [1, 0], spent: 600n });
    }
  });

  it('is passed over at once while another route works', async () => {
    works(backup);
    await failInARow();
    const { result, calls, spent } = await spending(() => speak());
    expect(result.status).toBe(200);
    expect({ calls, spent }).toEqual({ calls: [0, 1], spent: 600n });
  });

  it('is tried by one call alone after its rest', async () => {
    advance(REST_MS);
    works(first);
    const { result, calls } = await spending(() => {
      first.reply = (response) => {
        setTimeout(() => response.end(MP3_HEAD), 100);
      };
      return Promise.all(Array.from({ length: 5 }, () => speak({ model: 'aud-v3' })));
    });
    expect(calls).toEqual([1, 0]);
    expect(result.map((answer) => answer.status).sort()).toEqual([200, 503, 503, 503, 503]);
  });

  it('is not one that refuses requests or limits the rate', async () => {
    works(first);
    advance(REST_MS);
    await speak({ model: 'aud-v3' });
    for (const status of [400, 422, 429]) {
      fails(first, status);
      for (let call = 0; call < FAILURES + 1; call++) await speak({ model: 'aud-v3' });
    }
    works(first);
    expect((await speak({ model: 'aud-v3' })).status).toBe(200);
  });
});
