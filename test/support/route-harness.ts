import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Clock } from '../../src/common/time/clock.js';
import { startTestGateway, type TestAccount, type TestGateway } from './gateway.js';
import { type Answer, postJson } from './http-answer.js';
import { HELLO } from './paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from './stub-speech.js';
import type { StubUpstream } from './stub-upstream.js';

/** An open breaker rests this long. */
export const REST_MS = 10_000;
const KEY_VARIABLE = 'SHIM_TEST_BACKUP_KEY';

/**
 * A gateway with two providers of speech. `aud-v4` has both, `aud-v3` the first only, `aud-flash-v2.5` begins with one that
 * cannot be reached, and `aud-multilingual-v2` has only that one.
 */
export class RouteHarness {
  private constructor(
    readonly first: StubUpstream,
    readonly backup: StubUpstream,
    readonly gateway: TestGateway,
    readonly account: TestAccount,
  ) {}

  /** Starts one; call {@link stop} in `afterAll`. */
  static async start(): Promise<RouteHarness> {
    const [first, backup] = await Promise.all([startStubSpeech(), startStubSpeech()]);
    process.env[KEY_VARIABLE] = 'backup-provider-key';
    const overlay = join(mkdtempSync(join(tmpdir(), 'shim-routes-')), 'overlay.json');
    writeFileSync(overlay, JSON.stringify(overlayOf(backup)));
    const gateway = await startTestGateway({
      ...servedBy(first),
      CATALOG_FILE: overlay,
      UPSTREAM_TIMEOUT_MS: '2000',
    });
    return new RouteHarness(first, backup, gateway, await gateway.account());
  }

  async stop(): Promise<void> {
    await this.gateway.expectCleanBooks();
    await this.gateway.stop();
    await Promise.all([this.first.stop(), this.backup.stop()]);
  }

  speak(fields: object = {}): Promise<Answer> {
    const url = `${this.gateway.url}/v1/audio/speech`;
    return postJson(url, this.account.headers, { ...HELLO, ...fields });
  }

  works(stub: StubUpstream): void {
    stub.reply = (response) => response.end(MP3_HEAD);
  }

  fails(stub: StubUpstream, status: number): void {
    stub.reply = (response) => response.writeHead(status).end('{}');
  }

  /** Moves the clock of the gateway. */
  advance(ms: number): void {
    const clock = this.gateway.app.get(Clock);
    const now = clock.nowMs.bind(clock);
    clock.nowMs = () => now() + ms;
  }

  /** The requests that each provider got while `call` ran, and the money that was spent. */
  async spending<T>(call: () => Promise<T>) {
    const before = (await this.gateway.balance(this.account.accountId)).available;
    const seen = [this.first.seen.length, this.backup.seen.length] as const;
    const result = await call();
    return {
      result,
      calls: [this.first.seen.length - seen[0], this.backup.seen.length - seen[1]],
      spent: before - (await this.gateway.balance(this.account.accountId)).available,
    };
  }
}

function overlayOf(backup: StubUpstream): object {
  const routes = ['elevenlabs', 'backup'].map((provider) => ({ provider, upstream_model: 'm' }));
  const provider = { id: 'backup', protocol: 'elevenlabs', api_key_env: KEY_VARIABLE };
  const nowhere = { ...provider, id: 'nowhere', base_url: 'http://127.0.0.1:1' };
  const detour = [{ provider: 'nowhere', upstream_model: 'm' }, ...routes];
  const dead = [{ provider: 'nowhere', upstream_model: 'm' }];
  return {
    models: [
      { id: 'aud-v4', routes },
      { id: 'aud-v3', routes: routes.slice(0, 1) },
      { id: 'aud-flash-v2.5', routes: detour },
      { id: 'aud-multilingual-v2', routes: dead },
    ],
    providers: [{ ...provider, base_url: backup.url }, nowhere],
  };
}
