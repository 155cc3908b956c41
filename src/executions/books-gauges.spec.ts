import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { fundedAccount } from '../../test/support/test-ledger.js';
import { FAILURE, ledgerOf, startOf } from '../../test/support/test-ledger.js';
import { auditLedger } from '../billing/audit.js';
import { Metrics } from '../observability/metrics.js';
import type { Ticker } from '../ticker/ticker.js';
import { BooksGauges } from './books-gauges.js';

describe('BooksGauges', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('publish for the whole database from one process, whatever the tables hold', async () => {
    const { dataSource } = database;
    const accountId = await fundedAccount(dataSource, 100n);
    const processes = [1, 2, 3].map(() => {
      const metrics = new Metrics();
      const ledger = ledgerOf(dataSource);
      const ticker = {} as Ticker;
      const gauges = new BooksGauges(dataSource, metrics, ledger.process, ticker, {
        intervalMs: 1_000,
      });
      return { ...ledger, metrics, gauges };
    });
    const starts = processes.map(() => startOf(accountId, 10n));
    for (const [index, { process, executions }] of processes.entries()) {
      await executions.begin(starts[index]!);
      await process.beat();
    }
    await auditLedger(dataSource, 'new');
    const shown = await Promise.all(
      processes.map(async ({ gauges, metrics }) => {
        await gauges.tick();
        return (await metrics.registry.metrics()).match(/^gateway_(holds_open|audit_ok) .*/gm);
      }),
    );
    expect(shown.filter((lines) => lines !== null)).toEqual([
      ['gateway_holds_open 3', 'gateway_audit_ok 1'],
    ]);
    for (const [index, { executions }] of processes.entries()) {
      await executions.fail(starts[index]!, FAILURE);
    }
  });
});
