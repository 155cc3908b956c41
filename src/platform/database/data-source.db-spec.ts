import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { idleTimeoutSocket, createDataSource } from './data-source.js';

const TLS_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('createDataSource', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('bounds locks, statements and idle transactions of normal work', async () => {
    const [limits] = await database.dataSource.query<unknown[]>(
      `SELECT current_setting('lock_timeout') AS lock, current_setting('statement_timeout') AS statement,
              current_setting('idle_in_transaction_session_timeout') AS idle,
              current_setting('application_name') AS name`,
    );
    expect(limits).toEqual({ lock: '2s', statement: '5s', idle: '5s', name: 'shim-gateway' });
  });

  it('survives the end of its idle connections, and reports it', async () => {
    const told: Error[] = [];
    const other = createDataSource({
      url: database.url,
      poolSize: 1,
      onPoolError: (error) => told.push(error),
    });
    await other.initialize();
    const [{ pid }] = await other.query<[{ pid: number }]>('SELECT pg_backend_pid() AS pid');
    await database.dataSource.query('SELECT pg_terminate_backend($1)', [pid]);
    while (told.length === 0) await new Promise(setImmediate);
    expect(await other.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await other.destroy();
  });

  it('uses TLS if the URL requires it, and fails without it', async () => {
    const heard: Buffer[] = [];
    const server = createServer((socket) => {
      socket.on('data', (chunk) => {
        heard.push(chunk);
        socket.end('N');
      });
    });
    const url = `postgresql://shim:p%40ss@127.0.0.1:${await portOf(server)}/shim?sslmode=verify-full`;
    await expect(createDataSource({ url }).initialize()).rejects.toThrow('SSL');
    expect(heard).toEqual([TLS_REQUEST]);
    server.close();
  });
});

describe('idleTimeoutSocket', () => {
  it('breaks with ETIMEDOUT when the peer says nothing', async () => {
    const server = createServer(() => undefined);
    const socket = idleTimeoutSocket(20).connect(await portOf(server), '127.0.0.1');
    const [error] = (await once(socket, 'error').catch((reason: unknown) => [reason])) as unknown[];
    expect(error).toMatchObject({ code: 'ETIMEDOUT' });
    server.close();
  });
});
