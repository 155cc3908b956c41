import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/support/database-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { ProcessLease } from '../../billing/recovery/process-lease.js';
import { createDataSource } from './data-source.js';
import { Database } from './database.js';
import { waitForDatabase } from './wait-for-database.js';

const LEASE_MS = 6_000;

describe('a start while the database is away', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let url: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startDatabaseProxy(database.url);
    url = proxy.through(database.url);
  });
  afterAll(async () => {
    await proxy.stop();
    await database.drop();
  });

  /** Does a step that cannot succeed before the database is back, which it is once somebody waits for it. */
  async function throughAnOutage<T>(step: () => Promise<T>): Promise<T> {
    await proxy.cut();
    const begun = step();
    await expect(Promise.race([begun, whileRefused()])).resolves.toBe('refused');
    await proxy.mend();
    return begun;
  }
  async function whileRefused(): Promise<'refused'> {
    await expect(createDataSource({ url }).initialize()).rejects.toThrow();
    return 'refused';
  }

  it('waits with its connection and its migrations', async () => {
    const opened = new Database({ databaseUrl: url, dataDir: '' });
    const dataSource = await throughAnOutage(() => opened.open());
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await opened.close();
  });

  it('waits with its first lease', async () => {
    const dataSource = await createDataSource({ url }).initialize();
    const process = new ProcessLease(dataSource, { leaseMs: LEASE_MS });
    await throughAnOutage(() => process.onModuleInit());
    const [row] = await database.dataSource.query<unknown[]>(
      `SELECT lease_until > now() AS lives FROM gateway_process WHERE id = $1`,
      [process.id],
    );
    expect(row).toEqual({ lives: true });
    await process.beforeApplicationShutdown();
    await dataSource.destroy();
  });

  it('ends with a sentence and its cause when the database stays away', async () => {
    await proxy.cut();
    let waits = 0;
    const step = () => createDataSource({ url }).initialize();
    const start = waitForDatabase(step, () => (waits += 1), 2_500);
    await expect(start).rejects.toThrow(/^The database did not answer within \d+ seconds$/);
    await expect(start).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
    expect(waits).toBe(1);
    await proxy.mend();
  });

  it('does not wait for an error that waiting cannot fix', async () => {
    const step = () => database.dataSource.query('SELECT nothing');
    await expect(waitForDatabase(step, () => undefined)).rejects.toThrow('nothing');
  });
});
