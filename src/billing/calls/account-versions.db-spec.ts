import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';

const REWRITES = 6_000;
/** What splits of index pages may add. */
const FEW_PAGES = 15;

interface Plan {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

describe('a hold while a snapshot is open', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
  });
  afterAll(() => db.drop());

  /** Pages that the server reads to hold 10 micro-USD of the account. */
  async function pagesOfHold(step: string, accountId: string, waits: boolean): Promise<number> {
    const noEnds = Array<string>(17).fill(`'{}'`).join(', ');
    const capped = step === 'execution_step_capped_v2' ? `, '{t}'` : '';
    const [row] = await db.dataSource.query<[{ 'QUERY PLAN': [Plan] }]>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM ${step}(
         '{${accountId}}', '${randomUUID()}', ${waits}, ${noEnds},
         '{1}', '{${randomUUID()}}', '{10}', '{NULL}', '{aud-v4}', '{/v1/audio/speech}', '{NULL}'${capped})`,
    );
    const { Plan: plan } = row['QUERY PLAN'][0];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }

  /** The same when the server has planned the statement: a new connection or fresh statistics make it plan anew. */
  async function pagesOfPlannedHold(step: string, accountId: string, waits: boolean) {
    await pagesOfHold(step, accountId, waits);
    return pagesOfHold(step, accountId, waits);
  }

  it.each([
    ['execution_step_v2', false],
    ['execution_step_v2', true],
    ['execution_step_capped_v2', false],
    ['execution_step_capped_v2', true],
  ])(
    'makes %s read no more pages after 6,000 rewrites of the account, waiting for its lock: %s',
    async (step, waits) => {
      const accountId = await fundedAccount(db.dataSource, 1_000_000n);
      const snapshot = db.dataSource.createQueryRunner();
      await snapshot.startTransaction('REPEATABLE READ');
      try {
        await snapshot.query('SELECT count(*) FROM account');
        const before = await pagesOfPlannedHold(step, accountId, waits);
        await db.dataSource.query(
          `DO $$ BEGIN FOR i IN 1 .. ${REWRITES} LOOP
             UPDATE account SET held = held + 1 WHERE id = '${accountId}';
           END LOOP; END $$`,
        );
        expect(await pagesOfPlannedHold(step, accountId, waits)).toBeLessThan(before + FEW_PAGES);
      } finally {
        await snapshot.rollbackTransaction();
        await snapshot.release();
      }
    },
  );
});
