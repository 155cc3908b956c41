import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./shared-gateway-program.js', import.meta.url));
/** Those of `startTestGateway`, with a proxy whose addresses count and tasks that move fast. */
const SETTINGS = {
  PORT: '0',
  HOST: '127.0.0.1',
  SECRET_KEY: 'a-secret-key-for-tests-only-0123456789',
  ADMIN_TOKEN: 'test-admin-token-0123456789',
  RATE_LIMIT_RPM: '0',
  MAX_WAITING_REQUESTS: '0',
  DRAIN_TIMEOUT_MS: '20000',
  SANDBOX: 'on',
  TRUST_PROXY: '127.0.0.0/8',
  TASK_TICK_MS: '50',
  TASK_POLL_INTERVAL_MS: '50',
};

/**
 * The gateways that test files share: one for each Jest worker, which runs one file at a time. Each is started when it is first
 * asked for: `GET /<worker>?file=` at {@link url} answers where it is, and tells it which test file will call it.
 */
export class SharedGateways {
  #started = new Map();
  #server = createServer((request, response) => {
    this.#of(request.url).then(
      (place) => response.end(JSON.stringify(place)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  #createDatabase;

  /** `createDatabase` makes a migrated database and answers its URL. */
  static async open(createDatabase) {
    const gateways = new SharedGateways();
    gateways.#createDatabase = createDatabase;
    await once(gateways.#server.listen(0, '127.0.0.1'), 'listening');
    return gateways;
  }

  get url() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  async #of(requested) {
    const { pathname: worker, searchParams } = new URL(requested, this.url);
    let started = this.#started.get(worker);
    if (!started) this.#started.set(worker, (started = this.#start()));
    const { child, place } = await started;
    child.send(searchParams.get('file'));
    return place;
  }

  async #start() {
    const databaseUrl = await this.#createDatabase();
    const folder = await mkdtemp(join(tmpdir(), 'shim-shared-'));
    const settings = { ...SETTINGS, DATABASE_URL: databaseUrl, DATA_DIR: folder };
    const child = fork(PROGRAM, [JSON.stringify(settings)], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      execArgv: ['--no-warnings'],
    });
    const exit = once(child, 'exit');
    const output = Promise.all([text(child.stdout), text(child.stderr)]);
    const told = await Promise.race([once(child, 'message'), exit.then(() => undefined)]);
    if (!told) throw new Error(`a shared gateway has ended: ${(await output).join('')}`);
    return { place: { ...told[0], databaseUrl }, child, exit, output, folder };
  }

  /** Ends them all; throws if one has logged an error that nothing handled, or had ended by itself. */
  async stop() {
    this.#server.closeAllConnections();
    this.#server.close();
    for (const started of this.#started.values()) {
      const { child, exit, output, folder } = await started;
      const hadEnded = child.exitCode !== null || child.signalCode !== null;
      if (child.connected) child.disconnect();
      await exit;
      await rm(folder, { recursive: true, force: true });
      const lines = (await output).join('');
      if (hadEnded || lines !== '') throw new Error(`a shared gateway has failed: ${lines}`);
    }
  }
}
