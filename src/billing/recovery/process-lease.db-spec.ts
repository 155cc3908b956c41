import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/support/database-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { createDataSource } from '../../platform/database/data-source.js';
import { ProcessLease } from './process-lease.js';

const LEASE_MS = 6_000;
const POOL_SIZE = 2;

describe('the lease of a process', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let dataSource: DataSource;
  let process: ProcessLease;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startDatabaseProxy(database.url);
    const url = proxy.through(database.url);
    dataSource = await createDataSource({ url, poolSize: POOL_SIZE }).initialize();
    process = new ProcessLease(dataSource, { leaseMs: LEASE_MS });
    await process.onModuleInit();
  });
  afterAll(async () => {
    await process.beforeApplicationShutdown();
    await dataSource.destroy();
    await proxy.stop();
    await database.drop();
  });

  /** Checks for longer than a lease whether another process could take this one for dead. */
  async function outlastsALease(): Promise<void> {
    const over = performance.now() + LEASE_MS + 1_000;
    while (performance.now() < over) {
      const rows = await database.dataSource.query<{ lives: boolean }[]>(
        `SELECT lease_until > now() AS lives FROM gateway_process WHERE id = $1`,
        [process.id],
      );
      expect(rows).toEqual([{ lives: true }]);
      await sleep(100);
    }
  }

  it('is renewed while every connection of the pool is in use', async () => {
    const runners = Array.from({ length: POOL_SIZE }, () => dataSource.createQueryRunner());
    await Promise.all(runners.map((runner) => runner.connect()));
    await outlastsALease();
    await Promise.all(runners.map((runner) => runner.release()));
  });

  it('is renewed on a new connection when its connection hangs', async () => {
    proxy.freeze();
    await outlastsALease();
  });
});
