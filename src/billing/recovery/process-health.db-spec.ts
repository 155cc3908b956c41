import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/support/database-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { SystemClock } from '../../common/time/clock.js';
import { createDataSource } from '../../platform/database/data-source.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { Readiness } from '../../platform/observability/readiness.js';
import { ProcessLease } from './process-lease.js';
import { ProcessHealth } from './process-health.js';

const LEASE_MS = 15_000;
/** Far longer than a probe may take, so that a busy machine does not fail the test, and far shorter than a database's silence. */
const SOON_MS = 2_000;

class WrongClock extends SystemClock {
  offMs = 0;
  override machineMs(): number {
    return Date.now() + this.offMs;
  }
}

describe('the readiness of a process', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let dataSource: DataSource;
  let process: ProcessLease;
  let readiness: Readiness;
  let metrics: Metrics;
  let clock: WrongClock;

  beforeEach(async () => {
    clock = new WrongClock();
    database = await createTestDatabase();
    proxy = await startDatabaseProxy(database.url);
    dataSource = createDataSource({ url: proxy.through(database.url), poolSize: 2 });
    await dataSource.initialize();
    process = new ProcessLease(dataSource, { leaseMs: LEASE_MS });
    readiness = new Readiness();
    metrics = new Metrics();
    expect(new ProcessHealth(process, clock, readiness, metrics)).toBeDefined();
    await process.onModuleInit();
    readiness.serve();
  });
  afterEach(async () => {
    await process.beforeApplicationShutdown();
    await dataSource.destroy();
    await proxy.stop();
    await database.drop();
  });

  /** Asks until the answer is this one, as a load balancer does. Each answer comes soon. */
  async function becomes(wanted: boolean): Promise<void> {
    for (;;) {
      const askedMs = performance.now();
      const isReady = await readiness.isReady();
      expect(performance.now() - askedMs).toBeLessThan(SOON_MS);
      if (isReady === wanted) return;
      await sleep(100);
    }
  }

  it('ends while the database does not respond, and returns with it', async () => {
    expect(await readiness.isReady()).toBe(true);
    proxy.hang();
    await becomes(false);
    await proxy.cut();
    await proxy.mend();
    await becomes(true);
  });

  it('ends while the database accepts no writes, and returns with them', async () => {
    const name = new URL(database.url).pathname.slice(1);
    const setReadOnly = async (value: 'on' | 'off') => {
      await database.dataSource.query(
        `ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`,
      );
      // A new connection has it.
      await proxy.cut();
      await proxy.mend();
    };
    await setReadOnly('on');
    await becomes(false);
    expect(await dataSource.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await setReadOnly('off');
    await becomes(true);
  });

  it.each([
    [-7_200_000, false],
    [31_000, false],
    [-29_000, true],
    [6_000, true],
  ])(
    "with a clock that is %d ms off is %s, and the process uses the database's clock (G-112)",
    async (offMs, isReady) => {
      clock.offMs = offMs;
      await process.heartbeat();
      const [row] = await dataSource.query<{ ms: number }[]>(
        `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS ms`,
      );
      expect(Math.abs(clock.nowMs() - (row?.ms ?? NaN))).toBeLessThan(1_000);
      expect(await readiness.isReady()).toBe(isReady);
      const shown = /^gateway_clock_offset_seconds (.*)$/m.exec(await metrics.registry.metrics());
      expect(Math.abs(Number(shown?.[1]) - offMs / 1000)).toBeLessThan(1);
      clock.offMs = 0;
      await process.heartbeat();
      expect(await readiness.isReady()).toBe(true);
    },
  );
});
