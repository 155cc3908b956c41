import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chown, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { leaseFor } from '../../src/billing/recovery/process-lease.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  processesIn,
  runProgram,
  runBuilt,
  type SpawnIdentity,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname;
const NOBODY = 65_534;
const RESOLVED_WITHIN_MS = 30_000;
const isRoot = process.getuid?.() === 0;
const othersCanReadUs =
  isRoot && spawnSync('test', ['-r', MAIN], { uid: NOBODY, gid: NOBODY }).status === 0;
const itAsAnotherUser = othersCanReadUs ? it : it.skip;

interface Balance {
  readonly available_microusd: string;
  readonly held_microusd: string;
}

describe('a gateway with its embedded database', () => {
  let folder: string;
  let port: string;
  let gateway: GatewayProgram;
  let firstOutput: string;
  let key: string;

  const start = (settings: NodeJS.ProcessEnv = {}, options: SpawnIdentity = {}) =>
    startGatewayProgram(
      { PORT: port, DATA_DIR: join(folder, 'data'), SECRET_KEY: '', ...settings },
      options,
    );
  const asHolder = () => ({ authorization: `Bearer ${key}` });
  const balance = async (): Promise<Balance> =>
    (await send(`${gateway.url}/v1/account`, { headers: asHolder() })).json as Balance;
  const speak = (input: string, signal?: AbortSignal) =>
    send(`${gateway.url}/v1/audio/speech`, {
      method: 'POST',
      headers: { ...asHolder(), 'content-type': 'application/json' },
      body: JSON.stringify({ ...HELLO, input }),
      ...(signal && { signal }),
    });
  /** Begins a call that the provider never answers; it is held when this returns. */
  const hang = async (): Promise<void> => {
    speak('[[sandbox:hang]]').catch(() => undefined);
    await until(async () => (await balance()).held_microusd !== '0');
  };
  const audit = async () => (await gateway.admin('GET', '/audit')).json;
  const restart = async (signal: NodeJS.Signals, settings: NodeJS.ProcessEnv = {}) => {
    await gateway.end(signal);
    gateway = await start(settings);
  };

  beforeAll(async () => {
    folder = await temporaryFolder();
    port = String(await freePort());
    gateway = await start();
    await until(() => gateway.stdout().includes('/v1/models'));
    firstOutput = gateway.stdout();
    expect(firstOutput).toMatch(/"msg":"Shim is ready"}\n[^]*sk-/);
    key = /sk-[0-9A-Za-z]+/.exec(firstOutput)?.[0] ?? '';
  }, PROCESS_TEST_TIMEOUT_MS);
  afterEach(async () => {
    if (gateway.child.exitCode !== null || gateway.child.signalCode !== null) {
      gateway = await start();
    }
  }, PROCESS_TEST_TIMEOUT_MS);
  afterAll(cleanUp, PROCESS_TEST_TIMEOUT_MS);

  it('prints a key, the addresses of its docs and console, and three commands on the first start', async () => {
    expect(key).toMatch(/^sk-[0-9A-Za-z]{43}$/);
    const { url } = gateway;
    expect(firstOutput).toContain(`Docs: ${url}/docs, console: ${url}/console/\n`);
    expect((await send(`${url}/console/`)).status).toBe(200);
    expect(firstOutput.match(/^ +curl /gm)).toHaveLength(3);
    expect((await send(`${gateway.url}/docs`)).status).toBe(200);
    expect(gateway.stderr()).toBe('');
  });

  it('prints commands that work as they are', async () => {
    const commands = firstOutput.match(/^ +curl .*$/gm) ?? [];
    for (const command of commands) {
      const inFolder = `cd ${folder} && ${command.trim()} --fail --silent`;
      const { code } = await runProgram(['sh', '-c', inFolder]).exited;
      expect({ command, code }).toEqual({ command, code: 0 });
    }
    const audio = await readFile(join(folder, 'hello.mp3'));
    expect(audio.length).toBeGreaterThan(1_000);
    expect(audio.subarray(0, 3).toString('latin1')).toMatch(/^(ID3|\xff)/);
  });

  it('refuses a second gateway on the same DATA_DIR, and says whose it is', async () => {
    const second = runBuilt('main.js', [], { PORT: '0', DATA_DIR: join(folder, 'data') });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr()).toContain(`is in use by process ${gateway.pid}`);
    expect((await send(`${gateway.url}/health/ready`)).status).toBe(200);
  });

  it(
    'keeps a secret key of its own in DATA_DIR, never prints it, and refuses to start with a broken one',
    async () => {
      const file = join(folder, 'data', 'secret-key');
      const secret = await readFile(file, 'utf8');
      expect(secret).toMatch(/^[\w-]{43}\n$/);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect((await stat(join(folder, 'data'))).mode & 0o777).toBe(0o755);
      expect(firstOutput).not.toContain(secret.trim());
      await gateway.end('SIGTERM');
      gateway = await start({ WORKERS: '2' });
      expect(await readFile(file, 'utf8')).toBe(secret);
      await gateway.end('SIGTERM');
      await writeFile(file, 'tiny-secret');
      const refused = runBuilt('main.js', [], { PORT: port, DATA_DIR: join(folder, 'data') });
      expect(await refused.exited).toEqual({ code: 1, signal: null });
      expect(refused.stderr()).toContain(`SECRET_KEY: ${file}: `);
      expect(refused.stdout() + refused.stderr()).not.toContain('tiny-secret');
      expect(await readFile(file, 'utf8')).toBe('tiny-secret');
      await writeFile(file, secret);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with 0 on %s, stops its database, and prints no demo key on the next start',
    async (signal) => {
      expect(await gateway.end(signal)).toEqual({ code: 0, signal: null });
      expect(await processesIn(folder)).toEqual([]);
      gateway = await start();
      await speak('Hello again.');
      await until(() => gateway.stdout().includes('"msg":"request"'));
      expect(gateway.stdout()).not.toMatch(/sk-|curl/);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'finishes a call in flight when a terminal interrupts the whole process group',
    async () => {
      await gateway.end('SIGTERM');
      gateway = await start({}, { detached: true });
      const call = speak('[[sandbox:delay=1000]]Hello');
      await until(async () => (await balance()).held_microusd !== '0');
      process.kill(-gateway.pid, 'SIGINT');
      expect((await call).status).toBe(200);
      expect(await gateway.exited).toEqual({ code: 0, signal: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'starts again after kill -9 with its balances, and releases the holds of the dead process',
    async () => {
      await restart('SIGTERM', { HOLD_SWEEP_MS: '200' });
      await speak('Hello');
      const before = await balance();
      await hang();
      await restart('SIGKILL', { HOLD_SWEEP_MS: '200' });
      await until(async () => (await balance()).held_microusd === '0');
      expect(await balance()).toEqual(before);
      expect(await audit()).toMatchObject({ ok: true, discrepancies: [] });
      const lost = (await gateway.admin('GET', '/executions?status=failed')).json;
      expect(lost).toMatchObject({
        data: [{ error_code: 'process_lost', charged_microusd: null }],
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'leaves no process of its database behind when it is killed',
    async () => {
      await gateway.end('SIGKILL');
      await until(async () => (await processesIn(folder)).length === 0);
      expect(await processesIn(folder)).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'starts again while the database of its killed predecessor still runs',
    async () => {
      const before = await balance();
      await gateway.end('SIGTERM');
      // Without setpriv in the path, the server does not end with the gateway.
      const bin = join(folder, 'bin');
      await mkdir(bin);
      for (const program of ['flock', 'sh', 'cat']) {
        await symlink(join('/usr/bin', program), join(bin, program));
      }
      gateway = await start({ PATH: bin });
      await gateway.end('SIGKILL');
      expect(await processesIn(folder)).not.toEqual([]);
      gateway = await start();
      expect(await balance()).toEqual(before);
      expect(await audit()).toMatchObject({ ok: true });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'writes nothing but lines of JSON in production, and the demo key to a file that only its user reads',
    async () => {
      const dataDir = join(await temporaryFolder(), 'data');
      const settings = { DATA_DIR: dataDir, SECRET_KEY: '', NODE_ENV: 'production' };
      const first = await startGatewayProgram(settings);
      const path = join(dataDir, 'demo-key');
      await until(() => first.stdout().includes(path));
      const lines = first.stdout().trimEnd().split('\n');
      expect(lines.map((line) => typeof JSON.parse(line))).toEqual(lines.map(() => 'object'));
      expect((await stat(path)).mode & 0o777).toBe(0o600);
      const demoKey = (await readFile(path, 'utf8')).trim();
      expect(first.stdout()).not.toContain(demoKey);
      const headers = { authorization: `Bearer ${demoKey}` };
      expect((await send(`${first.url}/v1/account`, { headers })).json).toMatchObject({
        available_microusd: '100000000',
      });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  itAsAnotherUser(
    'serves an ordinary user',
    async () => {
      const home = await temporaryFolder();
      await chown(home, NOBODY, NOBODY);
      const settings = { DATA_DIR: join(home, 'data'), SECRET_KEY: '', HOME: home };
      const theirs = await startGatewayProgram(settings, { uid: NOBODY, gid: NOBODY });
      const { headers } = await theirs.account();
      expect((await send(`${theirs.url}/v1/account`, { headers })).status).toBe(200);
      expect(await theirs.end('SIGTERM')).toEqual({ code: 0, signal: null });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});

describe('the time of the sweeper', () => {
  it('resolves the holds of a dead process within 30 s by default', () => {
    const { holdSweepMs } = loadConfig({});
    // A lease has to end, then a sweep finds the hold; one more interval for the sweep itself.
    expect(leaseFor(holdSweepMs).leaseMs + 2 * holdSweepMs).toBeLessThanOrEqual(RESOLVED_WITHIN_MS);
  });
});
