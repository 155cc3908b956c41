import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { balanceOf, fundedAccount, ledgerOf, startOf } from '../../../test/support/test-ledger.js';
import { until } from '../../../test/support/until.js';

/** Ended calls of some earlier day, and processes that ended since. */
const CALLS = 40_000;
const PROCESSES = 500;
/** Pages that a sweep may read, of tables and indexes, whatever the tables hold. */
const MAX_PAGES = 400;

describe('the pages that a sweep reads', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  const query = (text: string, values: unknown[] = []) => database.dataSource.query(text, values);
  const processes = async () =>
    (await query(`SELECT count(*)::int AS n FROM gateway_process`)) as { n: number }[];

  /** Pages read by one sweep. */
  async function pagesOfSweep(judge: string): Promise<number> {
    const text = `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM execution_sweep_open('${judge}', '{}', 1000)`;
    const [row] = (await query(text)) as { 'QUERY PLAN': [{ Plan: Record<string, number> }] }[];
    const plan = row!['QUERY PLAN'][0].Plan;
    return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
  }

  it('do not grow with ended calls or processes, and rows of ended processes are deleted', async () => {
    const accountId = await fundedAccount(database.dataSource, 1_000n);
    const dead = ledgerOf(database.dataSource);
    await dead.process.heartbeat();
    await dead.executions.begin(startOf(accountId, 10n));
    const { process, sweeper } = ledgerOf(database.dataSource);
    await process.heartbeat();
    await query(
      `INSERT INTO gateway_process (id, lease_ms, lease_until, unbroken_since, open_calls, oldest_open_at)
       SELECT gen_random_uuid(), 15000, at, at, 0, at - interval '1 minute'
         FROM (SELECT now() - interval '1 day' + n * interval '1 second' AS at FROM generate_series(1, $1::int) n) t`,
      [PROCESSES],
    );
    await query(
      `INSERT INTO execution (account_id, id, process_id, created_at, held, model, endpoint, status, completed_at, charged)
       SELECT $1, gen_random_uuid(), p.id, p.at, 10, 'm', '/v1/x', 'succeeded', now(), 10
         FROM generate_series(1, $2::int) n
         JOIN (SELECT id, lease_until - interval '1 second' AS at, row_number() OVER () AS place
                 FROM gateway_process WHERE lease_until < now()) p ON p.place = n % $3::int + 1
        ORDER BY p.at`,
      [accountId, CALLS, PROCESSES],
    );
    // The open call begins beside the ended ones, and its process is long over.
    await query(
      `UPDATE execution SET created_at = now() - interval '1 day' WHERE status = 'running'`,
    );
    await query(`UPDATE gateway_process SET lease_until = now() - interval '1 day' WHERE id = $1`, [
      dead.process.id,
    ]);
    await query(`UPDATE call_look SET looked_until = now() - interval '25 hours'`);
    await query(`SELECT brin_summarize_new_values('execution_by_time')`);
    await query(`VACUUM ANALYZE execution`);

    // The judge has only begun to beat: nothing is released, and the process with an open call is kept.
    // A look goes no further than the oldest transaction of the server, which other tests may hold open.
    await until(async () => {
      await sweeper.tick();
      const [left] = await processes();
      return left?.n === 2;
    });
    expect(await balanceOf(database.dataSource, accountId)).toEqual([1_000n, 10n]);
    expect(await pagesOfSweep(process.id)).toBeLessThan(MAX_PAGES);

    await query(`UPDATE gateway_process SET unbroken_since = now() - interval '1 hour'`);
    await sweeper.tick();
    expect(await balanceOf(database.dataSource, accountId)).toEqual([1_000n, 0n]);
    expect(await processes()).toEqual([{ n: 1 }]);
  });

  it('are read by one sweeper at a time, and another returns at once', async () => {
    const { process, sweeper } = ledgerOf(database.dataSource);
    await process.heartbeat();
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(`SELECT FROM call_look FOR UPDATE`);
    const [row] = (await query(`SELECT swept FROM execution_sweep_open($1, '{}', 1)`, [
      process.id,
    ])) as unknown[];
    expect(row).toEqual({ swept: null });
    expect(await sweeper.tick()).toBe(0);
    await runner.rollbackTransaction();
    await runner.release();
  });
});
