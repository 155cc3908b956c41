import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readlink, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DataDirInUseError } from './data-dir-lock.js';
import { EmbeddedPostgres } from './embedded-postgres.js';

const POLL_MS = 50;
const NAMED_USER = 65_534;
const NAMELESS_USER = 54_321;
const SOURCE = new URL('./embedded-postgres.ts', import.meta.url);
/** A gateway's process as far as its database goes; says its URL once it runs. */
const SCRIPT = `
  const { EmbeddedPostgres } = await import(${JSON.stringify(SOURCE.href)});
  const server = await EmbeddedPostgres.start({ dataDir: process.argv[1] });
  console.log(server.url);
`;
const isRoot = process.getuid?.() === 0;
const othersCanReadUs =
  isRoot && spawnSync('test', ['-r', SOURCE.pathname], { uid: NAMED_USER }).status === 0;
const itWithOtherUsers = othersCanReadUs ? it : it.skip;
/** Containers often forbid user namespaces. */
const maps = (identity: { uid?: number }): boolean =>
  spawnSync('unshare', ['--user', '--map-user=1', 'true'], identity).status === 0;
const itMapped = maps({}) ? it : it.skip;
const itMappedWithOtherUsers = othersCanReadUs && maps({ uid: NAMED_USER }) ? it : it.skip;

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await sleep(POLL_MS);
    }
  }
}

async function processesIn(directory: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const homes = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => '')));
  return pids.filter((_pid, index) => homes[index]?.startsWith(directory));
}

describe('EmbeddedPostgres', () => {
  let root: string;
  let dataDir: string;
  const gateways: ChildProcess[] = [];
  const servers: EmbeddedPostgres[] = [];

  async function start(): Promise<EmbeddedPostgres> {
    const server = await EmbeddedPostgres.start({ dataDir });
    servers.push(server);
    return server;
  }

  async function startGateway(
    options: { uid?: number; path?: string } = {},
  ): Promise<{ gateway: ChildProcess; url: string }> {
    const args = ['--import', '@swc-node/register/esm-register', '--input-type=module'];
    const gateway = spawn(process.execPath, [...args, '-e', SCRIPT, dataDir], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: options.path ?? process.env.PATH },
      ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
    });
    gateways.push(gateway);
    let problem = '';
    gateway.stderr.on('data', (chunk: Buffer) => (problem += chunk.toString()));
    const url = await new Promise<string>((resolve, reject) => {
      gateway.stdout.once('data', (chunk: Buffer) => {
        resolve(chunk.toString().trim());
      });
      gateway.once('exit', () => {
        reject(new Error(problem));
      });
    });
    return { gateway, url };
  }

  async function kill(gateway: ChildProcess): Promise<void> {
    gateway.kill('SIGKILL');
    if (gateway.exitCode === null && gateway.signalCode === null) await once(gateway, 'exit');
  }

  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'shim-embedded-'));
    await chmod(root, 0o755);
  });

  // Most tests share a cluster, since creating one is the slowest thing here.
  beforeEach(() => {
    dataDir = join(root, 'data');
  });

  afterEach(async () => {
    await Promise.all(gateways.splice(0).map(kill));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    while ((await processesIn(root)).length > 0) await sleep(POLL_MS);
  });

  afterAll(() => rm(root, { recursive: true, force: true }));

  it('keeps data over a stop and a start, durable and reachable through a private socket only', async () => {
    const first = await start();
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    const second = await start();
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    const names = ['fsync', 'synchronous_commit', 'listen_addresses', 'unix_socket_permissions'];
    const [settings] = await query(
      second.url,
      `SELECT ${names.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`,
    );
    expect(settings).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      listen_addresses: '',
      unix_socket_permissions: '0700',
    });
  });

  it('refuses a data directory another process runs on, and names the process', async () => {
    const { gateway, url } = await startGateway();
    await expect(EmbeddedPostgres.start({ dataDir })).rejects.toThrow(
      `${dataDir} is in use by process ${gateway.pid ?? ''}`,
    );
    const shared = await EmbeddedPostgres.attachOrStart({ dataDir });
    expect(shared.url).toBe(url);
    await shared.stop();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('refuses a second start in the same process', async () => {
    await start();
    await expect(EmbeddedPostgres.start({ dataDir })).rejects.toBeInstanceOf(DataDirInUseError);
  });

  it('starts its own server for an operator command when no gateway runs, and stops it', async () => {
    const own = await EmbeddedPostgres.attachOrStart({ dataDir });
    expect(await query(own.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await own.stop();
    await expect(query(own.url, 'SELECT 1')).rejects.toThrow();
    expect(await processesIn(dataDir)).toEqual([]);
  });

  it('runs again under the same address after the server is killed, with every committed row', async () => {
    const server = await start();
    await query(server.url, 'CREATE TABLE survivor AS SELECT 42 AS answer');
    const before = server.pid!;
    process.kill(before, 'SIGKILL');
    const rows = await eventually(() => query(server.url, 'SELECT answer FROM survivor'));
    expect(rows).toEqual([{ answer: 42 }]);
    expect(server.pid).not.toBe(before);
  });

  it('stops at once while a killed server waits to be restarted', async () => {
    const server = await start();
    process.kill(server.pid!, 'SIGKILL');
    await server.stop();
    expect(await processesIn(dataDir)).toEqual([]);
  });

  it('takes its server along when the gateway is killed', async () => {
    const { gateway } = await startGateway();
    await kill(gateway);
    while ((await processesIn(dataDir)).length > 0) await sleep(POLL_MS);
    const next = await startGateway();
    expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('starts while the server of a killed gateway still runs and serves a session', async () => {
    // Without setpriv on the path, nothing ends the server with the gateway.
    const bin = join(root, 'bin');
    await mkdir(bin);
    for (const program of ['flock', 'sh', 'cat']) {
      await symlink(join('/usr/bin', program), join(bin, program));
    }
    const { gateway, url } = await startGateway({ path: bin });
    const session = new pg.Client({ connectionString: url });
    session.on('error', () => undefined);
    await session.connect();
    await session.query('CREATE TABLE orphaned AS SELECT 42 AS answer');
    const orphans = await processesIn(dataDir);
    await kill(gateway);
    await sleep(POLL_MS);
    expect(await processesIn(dataDir)).toEqual(orphans);
    const server = await start();
    expect(orphans).not.toContain(server.pid);
    expect(await query(server.url, 'SELECT answer FROM orphaned')).toEqual([{ answer: 42 }]);
    await session.end().catch(() => undefined);
  });

  it('leaves other programs alone that work in its folder', async () => {
    await (await start()).stop();
    const bystander = spawn('sleep', ['60'], { cwd: join(dataDir, 'postgres'), stdio: 'ignore' });
    try {
      await start();
      expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('starts over a creation that was cut short', async () => {
    dataDir = join(root, 'cut');
    await mkdir(join(dataDir, 'postgres.unfinished', 'base'), { recursive: true });
    const server = await start();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('serves a data directory whose path is too long for a socket', async () => {
    dataDir = join(root, 'long'.repeat(40));
    const server = await start();
    const socketDirectory = new URL(server.url).searchParams.get('host')!;
    expect(socketDirectory.startsWith('/tmp/shim-postgres-')).toBe(true);
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await server.stop();
    await rm(socketDirectory, { recursive: true });
  });

  itMapped('serves a data directory below one that only its owner may enter', async () => {
    dataDir = join(root, 'private', 'data');
    await mkdir(join(root, 'private'), { mode: 0o700 });
    const server = await start();
    expect(await query(server.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  itWithOtherUsers('runs for an ordinary user', () => servesFor(NAMED_USER));

  itMappedWithOtherUsers('runs for a user id without a name', () => servesFor(NAMELESS_USER));

  async function servesFor(uid: number): Promise<void> {
    dataDir = join(root, `of-${uid}`);
    await mkdir(dataDir);
    await chown(dataDir, uid, uid);
    const { url } = await startGateway({ uid });
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  }
});
