import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { EmbeddedPostgres } from '../../src/platform/database/embedded/embedded-postgres.js';
import { processesIn } from './process.js';

export const POLL_MS = 50;
/** The file that another process must be able to read. */
export const SOURCE = new URL(
  '../../src/platform/database/embedded/embedded-postgres.ts',
  import.meta.url,
);
/** The database of a gateway's process; it prints its URL when it runs. */
const SCRIPT = `
  const { EmbeddedPostgres } = await import(${JSON.stringify(SOURCE.href)});
  const server = await EmbeddedPostgres.start({ dataDir: process.argv[1] });
  console.log(server.url);
`;

/** The rows of one statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Starts embedded servers, here and in other processes; every test ends with none. */
export function embeddedGateways() {
  const places = { root: '', dataDir: '' };
  const gateways: ChildProcess[] = [];
  const servers: EmbeddedPostgres[] = [];

  async function start(): Promise<EmbeddedPostgres> {
    const server = await EmbeddedPostgres.start({ dataDir: places.dataDir });
    servers.push(server);
    return server;
  }

  async function startGateway(
    options: { uid?: number; path?: string } = {},
  ): Promise<{ gateway: ChildProcess; url: string }> {
    const args = ['--import', '@swc-node/register/esm-register', '--input-type=module'];
    const gateway = spawn(process.execPath, [...args, '-e', SCRIPT, places.dataDir], {
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
    places.root = await mkdtemp(join(tmpdir(), 'shim-embedded-'));
    await chmod(places.root, 0o755);
  });

  // Most tests share a cluster, because creating one takes the longest time here.
  beforeEach(() => {
    places.dataDir = join(places.root, 'data');
  });

  afterEach(async () => {
    await Promise.all(gateways.splice(0).map(kill));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
    while ((await processesIn(places.root)).length > 0) await sleep(POLL_MS);
  });

  afterAll(() => rm(places.root, { recursive: true, force: true }));

  return { places, start, startGateway, kill };
}
