import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { maintenanceConnectionOf } from '../../platform/database/data-source.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';

/** Calls that have ended and are summed up, and calls that ran when they were. */
const ENDED = 60_000;
const OPEN = 6;
/** Pages that a sum may read, of tables and indexes, however many calls there were. */
const MAX_PAGES = 1_800;

interface Plan {
  readonly 'QUERY PLAN': readonly [{ readonly Plan: Readonly<Record<string, number>> }];
}

let database: TestDatabase;
let accountId: string;

beforeAll(async () => {
  database = await createTestDatabase();
  accountId = await fundedAccount(database.dataSource, 1_000n);
  const patient = await maintenanceConnectionOf(database.dataSource).initialize();
  await patient.query(
    `INSERT INTO execution (account_id, id, process_id, created_at, held, model, endpoint, status, completed_at, charged)
     SELECT $1, gen_random_uuid(), gen_random_uuid(), now() - interval '1 day' + n * interval '1 ms', 10, 'm', '/v1/x',
            'succeeded', now() - interval '1 hour', 10
       FROM generate_series(1, $2::int) n`,
    [accountId, ENDED],
  );
  await query(`UPDATE usage_state SET folded_until = now() - interval '1 minute'`);
  await query(`SELECT brin_summarize_new_values('execution_by_time')`);
  // As it is where so few calls are open that nothing ever counts them: the planner guesses, and guesses many.
  await query(`ALTER TABLE usage_pending SET (autovacuum_enabled = false)`);
  await query(`INSERT INTO usage_pending SELECT account_id, id FROM execution LIMIT $1`, [OPEN]);
  await patient.query(`VACUUM ANALYZE execution, hold, task, ledger_entry, account`);
  await patient.destroy();
});
afterAll(() => database.drop());

const query = <T>(text: string, values: unknown[] = []) =>
  database.dataSource.query<T[]>(text, values);

async function pagesOf(statement: string): Promise<number> {
  const [row] = await query<Plan>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`);
  const plan = row!['QUERY PLAN'][0].Plan;
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}

describe('the pages that a sum of usage reads', () => {
  it('do not grow with the calls that were summed up before: in a report', async () => {
    const report = `SELECT count(*) FROM usage_recent(NULL)`;
    expect(await query(report)).toEqual([{ count: String(OPEN) }]);
    expect(await pagesOf(report)).toBeLessThan(MAX_PAGES);
  });

  it('do not grow with the calls that were summed up before: in the sums themselves', async () => {
    await query(
      `UPDATE usage_state SET candidate_at = now(), candidate_xid = pg_snapshot_xmin(pg_current_snapshot())`,
    );
    const fold = `SELECT * FROM usage_fold(interval '30 seconds', interval '0')`;
    expect(await pagesOf(fold)).toBeLessThan(MAX_PAGES);
    expect(await query(`SELECT count(*)::int AS left FROM usage_pending`)).toEqual([{ left: 0 }]);
  });
});
