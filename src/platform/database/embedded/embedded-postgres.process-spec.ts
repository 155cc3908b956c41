import { describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { embeddedGateways, POLL_MS, query } from '../../../../test/support/embedded-gateways.js';
import { processesIn } from '../../../../test/support/process.js';
import { DataDirInUseError } from './data-dir-lock.js';
import { EmbeddedPostgres } from './embedded-postgres.js';

async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch {
      await sleep(POLL_MS);
    }
  }
}

describe('EmbeddedPostgres', () => {
  const { places, start, startGateway, kill } = embeddedGateways();

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

  it('keeps the memory of a statement for the next one', async () => {
    const client = new pg.Client((await start()).url);
    client.on('error', () => undefined);
    await client.connect();
    try {
      const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      const pageFaults = async (): Promise<number> => {
        const stat = await readFile(`/proc/${rows[0]?.pid ?? ''}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[8]);
      };
      const run = async (times: number): Promise<void> => {
        for (let time = 0; time < times; time += 1) {
          await client.query('SELECT array_agg(x::text) FROM generate_series(1, 5000) x');
        }
      };
      await run(10);
      const before = await pageFaults();
      await run(10);
      expect((await pageFaults()) - before).toBeLessThan(200);
    } finally {
      await client.end();
    }
  });

  it('refuses a data directory another process runs on, and names the process', async () => {
    const { gateway, url } = await startGateway();
    await expect(EmbeddedPostgres.start({ dataDir: places.dataDir })).rejects.toThrow(
      `${places.dataDir} is in use by process ${gateway.pid ?? ''}`,
    );
    const shared = await EmbeddedPostgres.attachOrStart({ dataDir: places.dataDir });
    expect(shared.url).toBe(url);
    await shared.stop();
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('refuses a second start in the same process', async () => {
    await start();
    await expect(EmbeddedPostgres.start({ dataDir: places.dataDir })).rejects.toBeInstanceOf(
      DataDirInUseError,
    );
  });

  it('starts its own server for an operator command when no gateway runs, and stops it', async () => {
    const own = await EmbeddedPostgres.attachOrStart({ dataDir: places.dataDir });
    expect(await query(own.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await own.stop();
    await expect(query(own.url, 'SELECT 1')).rejects.toThrow();
    expect(await processesIn(places.dataDir)).toEqual([]);
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
    // The children of a killed server end when they notice it. No new child is started.
    while ((await processesIn(places.dataDir)).length > 0) await sleep(POLL_MS);
    await expect(query(server.url, 'SELECT 1')).rejects.toThrow();
  });

  it('ends its server when the gateway is killed', async () => {
    const { gateway } = await startGateway();
    await kill(gateway);
    while ((await processesIn(places.dataDir)).length > 0) await sleep(POLL_MS);
    const next = await startGateway();
    expect(await query(next.url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('starts while the server of a killed gateway still runs and serves a session', async () => {
    // Without setpriv in the path, the server does not end with the gateway.
    const bin = join(places.root, 'bin');
    await mkdir(bin);
    for (const program of ['flock', 'sh', 'cat']) {
      await symlink(join('/usr/bin', program), join(bin, program));
    }
    const { gateway, url } = await startGateway({ path: bin });
    const session = new pg.Client({ connectionString: url });
    session.on('error', () => undefined);
    await session.connect();
    await session.query('CREATE TABLE orphaned AS SELECT 42 AS answer');
    const orphans = await processesIn(places.dataDir);
    await kill(gateway);
    await sleep(POLL_MS);
    expect(await processesIn(places.dataDir)).toEqual(orphans);
    const server = await start();
    expect(orphans).not.toContain(server.pid);
    expect(await query(server.url, 'SELECT answer FROM orphaned')).toEqual([{ answer: 42 }]);
    await session.end().catch(() => undefined);
  });

  it('does not end other programs whose working directory is its folder', async () => {
    await (await start()).stop();
    const bystander = spawn('sleep', ['60'], {
      cwd: join(places.dataDir, 'postgres'),
      stdio: 'ignore',
    });
    try {
      await start();
      expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    } finally {
      bystander.kill('SIGKILL');
    }
  });
});
