import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { SESSION_SETTINGS } from '../../platform/database/session-settings.js';

const REWRITES = 6_000;
/** They take seconds on a busy machine. */
const TIMEOUT_MS = 60_000;
/** How often a hold is measured: what a new plan reads beside it is not read each time, old versions are. */
const TIMES = 5;
/** What splits of index pages may add. */
const FEW_PAGES = 15;

interface Plan {
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
}

describe('a hold while a snapshot is open', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await createTestDatabase();
    // A vacuum beside it changes where the next versions lie, which is not what is measured.
    await db.dataSource.query('ALTER TABLE account SET (autovacuum_enabled = false)');
  });
  afterAll(() => db.drop());

  /** Pages that the server reads to hold 10 micro-USD of the account. */
  async function pagesOfHold(
    isCapped: boolean,
    accountId: string,
    waits: boolean,
  ): Promise<number> {
    const noEnds = Array<string>(21).fill(`'{}'`).join(', ');
    const [row] = await db.dataSource.query<[{ 'QUERY PLAN': [Plan] }]>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM execution_step_v3(
         '{${accountId}}', '${randomUUID()}', ${waits}, ${noEnds},
         '{1}', '{${randomUUID()}}', '{10}', '{NULL}', '{NULL}', '{NULL}', '{${isCapped}}',
         '{aud-v4}', '{/v1/audio/speech}', '{NULL}', '{}', '{}', '{}', '{}', '{}')`,
    );
    const { Plan: plan } = row['QUERY PLAN'][0];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  }

  /** The same when the server has planned the statement: a new connection or fresh statistics make it plan anew. */
  async function pagesOfPlannedHold(isCapped: boolean, accountId: string, waits: boolean) {
    await pagesOfHold(isCapped, accountId, waits);
    return pagesOfHold(isCapped, accountId, waits);
  }

  it.each([
    [false, false],
    [false, true],
    [true, false],
    [true, true],
  ])(
    'reads no more pages after 6,000 rewrites of the account; limited key: %s, waiting for its lock: %s',
    async (isCapped, waits) => {
      const accountId = await fundedAccount(db.dataSource, 1_000_000n);
      const snapshot = db.dataSource.createQueryRunner();
      await snapshot.startTransaction('REPEATABLE READ');
      try {
        await snapshot.query(SESSION_SETTINGS.patience);
        await snapshot.query('SELECT count(*) FROM account');
        const before = await pagesOfPlannedHold(isCapped, accountId, waits);
        await db.dataSource.transaction(async (manager) => {
          await manager.query(SESSION_SETTINGS.patience);
          await manager.query(
            `DO $$ BEGIN FOR i IN 1 .. ${REWRITES} LOOP
               UPDATE account SET held = held + 1 WHERE id = '${accountId}';
             END LOOP; END $$`,
          );
        });
        const pages: number[] = [];
        for (let time = 0; time < TIMES; time += 1)
          pages.push(await pagesOfPlannedHold(isCapped, accountId, waits));
        expect(Math.min(...pages)).toBeLessThan(before + FEW_PAGES);
      } finally {
        await snapshot.rollbackTransaction();
        await snapshot.release();
      }
    },
    TIMEOUT_MS,
  );
});
