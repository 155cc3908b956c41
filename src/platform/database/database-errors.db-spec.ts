import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { createDataSource } from './data-source.js';
import { databaseFaultOf, isRolledBack, isUniqueViolation } from './database-errors.js';
import { transaction } from './transaction.js';

/** Listens and then answers nothing, as a stopped server: the system queues a few connections and refuses the others. */
const STOPPED_SERVER = `
  require('node:net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => {
    require('node:fs').writeSync(1, 'listening');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

async function portOf(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('databaseFaultOf', () => {
  let database: TestDatabase;
  const run = (sql: string): Promise<unknown> => errorOf(database.dataSource.query(sql));

  beforeAll(async () => {
    database = await createTestDatabase();
    await database.dataSource.query(
      'CREATE TABLE item (id int PRIMARY KEY, parent int REFERENCES item, size int CHECK (size > 0))',
    );
    await database.dataSource.query('INSERT INTO item VALUES (1, NULL, 1), (2, NULL, 1)');
  });
  afterAll(() => database.drop());

  it('distinguishes kinds of constraints and names the violated one', async () => {
    const duplicate = await run('INSERT INTO item VALUES (1, NULL, 1)');
    expect(databaseFaultOf(duplicate)).toBe('unique');
    expect(isUniqueViolation(duplicate, 'item_pkey')).toBe(true);
    expect(isUniqueViolation(duplicate, 'another')).toBe(false);
    expect(databaseFaultOf(await run('INSERT INTO item VALUES (3, 9, 1)'))).toBe('foreign-key');
    expect(databaseFaultOf(await run('INSERT INTO item VALUES (3, NULL, 0)'))).toBe('check');
    expect(databaseFaultOf(await run('SELECT nothing'))).toBe('other');
    expect(databaseFaultOf(new Error('unrelated'))).toBe('other');
  });

  it.each([
    ['53100', 'could not extend file "base/5/16397": No space left on device'],
    ['58030', 'could not fsync file "pg_wal/000000010000000000000001": Input/output error'],
    ['XX000', 'could not write to file "base/pgsql_tmp/pgsql_tmp1.0": No space left on device'],
    ['XX000', 'could not create lock file "postmaster.pid": Read-only file system'],
  ])('calls a full or broken disk of the server lost: %s %s', async (code, message) => {
    const text = `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}', MESSAGE = '${message}'; END $$`;
    expect(databaseFaultOf(await run(text))).toBe('lost');
  });

  it('calls an internal error of one statement other', async () => {
    const text = `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'XX000', MESSAGE = 'tuple concurrently updated'; END $$`;
    expect(databaseFaultOf(await run(text))).toBe('other');
  });

  it('calls a session that the server could not begin lost, as with a full disk', async () => {
    const fields = ['SFATAL', 'VFATAL', 'CXX000', 'Mcould not begin'].join('\0') + '\0\0';
    const head = Buffer.from('E\0\0\0\0');
    head.writeInt32BE(fields.length + 4, 1);
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(Buffer.concat([head, Buffer.from(fields)])));
    });
    const url = `postgresql://shim@127.0.0.1:${await portOf(server)}/any`;
    const error = await errorOf(createDataSource({ url, poolSize: 1 }).initialize());
    expect(databaseFaultOf(error)).toBe('lost');
    server.close();
  });

  it('calls a statement over its time aborted', async () => {
    const late = database.dataSource.transaction(async (manager) => {
      await manager.query('SET LOCAL statement_timeout = 10');
      await manager.query('SELECT pg_sleep(10)');
    });
    const error = await errorOf(late);
    expect(databaseFaultOf(error)).toBe('aborted');
    expect(isRolledBack(error)).toBe(true);
  });

  it('calls a session that was ended under a statement lost, and the pool recovers', async () => {
    const cut = run('SELECT pg_terminate_backend(pg_backend_pid())');
    expect(databaseFaultOf(await cut)).toBe('lost');
    expect(isRolledBack(await cut)).toBe(false);
    // The pool learns of the end shortly after the error.
    let next = await run('SELECT 1');
    while (databaseFaultOf(next) === 'lost') next = await run('SELECT 1');
    expect(next).toBeUndefined();
  });

  it('calls a transaction lost whose session was ended between two statements', async () => {
    const cut = (act: (manager: EntityManager) => Promise<unknown>) =>
      errorOf(
        transaction(database.dataSource, async (manager) => {
          const sql = 'SELECT pg_backend_pid() AS pid';
          const [row] = await manager.query<{ pid: number }[]>(sql);
          await database.dataSource.query('SELECT pg_terminate_backend($1)', [row?.pid]);
          while (manager.queryRunner?.isReleased === false) await sleep(5);
          await act(manager);
        }),
      );
    expect(databaseFaultOf(await cut((manager) => manager.query('SELECT 1')))).toBe('lost');
    // Here the commit is the next statement.
    expect(databaseFaultOf(await cut(() => Promise.resolve()))).toBe('lost');
  });

  it('calls a server that closes without an answer lost and a closed port unavailable', async () => {
    const rude = createServer((socket) => socket.destroy());
    const url = `postgresql://nobody@127.0.0.1:${await portOf(rude)}/none`;
    expect(databaseFaultOf(await errorOf(createDataSource({ url }).initialize()))).toBe('lost');
    await new Promise((resolve) => rude.close(resolve));
    expect(databaseFaultOf(await errorOf(createDataSource({ url }).initialize()))).toBe(
      'unavailable',
    );
  });

  it('calls a missing socket unavailable', async () => {
    const url = 'postgresql://nobody@localhost/none?host=%2Fnonexistent';
    expect(databaseFaultOf(await errorOf(createDataSource({ url }).initialize()))).toBe(
      'unavailable',
    );
  });

  it('calls a stopped server whose queue of connections is full unavailable', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'stopped-'));
    const path = join(folder, '.s.PGSQL.5432');
    const stopped = spawn(process.execPath, ['-e', STOPPED_SERVER, path], { stdio: 'pipe' });
    const waiting: Socket[] = [];
    try {
      await once(stopped.stdout, 'data');
      for (let isFull = false; !isFull;) {
        const socket = connect(path);
        waiting.push(socket);
        isFull = await once(socket, 'connect').then(
          () => false,
          () => true,
        );
      }
      const url = `postgresql://nobody@localhost/none?host=${encodeURIComponent(folder)}`;
      expect(databaseFaultOf(await errorOf(createDataSource({ url }).initialize()))).toBe(
        'unavailable',
      );
    } finally {
      for (const socket of waiting) socket.destroy();
      stopped.kill('SIGKILL');
      await once(stopped, 'close');
      rmSync(folder, { recursive: true });
    }
  });

  it('lets both sides of a deadlock commit through transaction()', async () => {
    let arrived = 0;
    let bothHaveOne = (): void => undefined;
    const meeting = new Promise<void>((resolve) => (bothHaveOne = resolve));
    const grow = (first: number, second: number): Promise<void> =>
      transaction(database.dataSource, async (manager) => {
        await manager.query('UPDATE item SET size = size + 1 WHERE id = $1', [first]);
        if (++arrived >= 2) bothHaveOne();
        await meeting;
        await manager.query('UPDATE item SET size = size + 1 WHERE id = $1', [second]);
      });
    await Promise.all([grow(1, 2), grow(2, 1)]);
    expect(await database.dataSource.query('SELECT size FROM item ORDER BY id')).toEqual([
      { size: 3 },
      { size: 3 },
    ]);
  });

  it('does not repeat a transaction that failed on its own', async () => {
    let tries = 0;
    const work = transaction(database.dataSource, async (manager) => {
      tries += 1;
      await manager.query('INSERT INTO item VALUES (1, NULL, 1)');
    });
    expect(databaseFaultOf(await errorOf(work))).toBe('unique');
    expect(tries).toBe(1);
  });
});
