import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { balanceOf, fundedAccount, startOf, successOf } from '../../../test/support/test-ledger.js';
import type { ExecutionCommand, ExecutionStart } from '../calls/execution-commands.js';
import { ExecutionRepository } from '../calls/execution.repository.js';
import { RunsService } from './runs.service.js';

const RUNS = 20;
const HELD = 10n;
const FUNDS = 1_000n;

let db: TestDatabase;
let statements: ExecutionRepository;
beforeAll(async () => {
  db = await createTestDatabase();
  statements = new ExecutionRepository(db.dataSource);
});
afterAll(() => db.drop());

const commit = (command: ExecutionCommand) => statements.commit(randomUUID(), [command], false);

async function begin(accountId: string, run: ExecutionStart['run']): Promise<ExecutionStart> {
  const start = { ...startOf(accountId, HELD), run };
  expect(await commit({ kind: 'begin', accountId, start })).toMatchObject([{ outcome: 'held' }]);
  return start;
}

function end({ accountId, executionId }: ExecutionStart, run: ExecutionStart['run']) {
  const success = { ...successOf(HELD), errorCode: null, providerFault: null };
  return commit({ kind: 'finish', accountId, end: { ...success, accountId, executionId, run } });
}

/** How often each index of `run` was read, once sessions have reported it. */
async function scans(): Promise<Record<string, number>> {
  for (;;) {
    await db.dataSource.query('SELECT pg_stat_force_next_flush()');
    const rows = await db.dataSource.query<{ name: string; scans: number }[]>(
      `SELECT indexrelname AS name, idx_scan::int AS scans FROM pg_stat_user_indexes
        WHERE relname = 'run'`,
    );
    const counts = Object.fromEntries(rows.map((row) => [row.name, row.scans]));
    if (Object.values(counts).reduce((sum, count) => sum + count, 0) >= RUNS) return counts;
    await sleep(100);
  }
}

describe('the statement that begins and ends calls of runs', () => {
  it('looks for each run by its key, though its plan was made while the table was empty', async () => {
    const accountId = await fundedAccount(db.dataSource, FUNDS);
    for (let index = 0; index < RUNS; index += 1) {
      const run = { id: `run ${index}` };
      expect(await end(await begin(accountId, run), run)).toEqual(['done']);
    }
    expect(await scans()).toMatchObject({ run_of_account: 0 });
  });

  it('refuses the end of a call in another run than it began, and changes nothing', async () => {
    const accountId = await fundedAccount(db.dataSource, FUNDS);
    const one = { id: 'one' };
    const start = await begin(accountId, one);
    await expect(end(start, { id: 'two' })).rejects.toThrow('in another run than it began');
    await expect(end(start, undefined)).rejects.toThrow('in another run than it began');
    expect(await balanceOf(db.dataSource, accountId)).toEqual([FUNDS, HELD]);
    expect(await end(start, one)).toEqual(['done']);
    expect(await balanceOf(db.dataSource, accountId)).toEqual([FUNDS - HELD, 0n]);
    const run = await new RunsService(db.dataSource).get(accountId, 'one');
    expect(run).toMatchObject({ spentMicroUsd: HELD, heldMicroUsd: 0n, calls: 1 });
  });
});
