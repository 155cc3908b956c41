import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { UsageReports, type UsageRow } from '../../src/billing/usage/usage-reports.js';
import type { UsageDimension } from '../../src/billing/usage/usage-request.js';
import { UsageRollup } from '../../src/billing/usage/usage-rollup.js';
import type { TestGateway } from './gateway.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { IDLE_TICKER, ledgerOf, type TestLedger } from './test-ledger.js';

const LONGEST_PAUSE_MS = 100;
/** All days and more rows than any test makes. */
const EVERYTHING = { from: '2020-01-01', to: '2100-01-01', limit: 1_000, offset: 0 };

/**
 * Sums the calls of a gateway that have ended, for which it waits ten seconds by itself. A transaction of any database of the server
 * puts that off, so call it until the sums are there.
 */
export const foldUsage = ({ app }: TestGateway): Promise<void> =>
  app.get(UsageRollup, { strict: false }).tick(0);

/** A database whose calls are played, folded and read as usage. */
export class UsageDesk {
  readonly dataSource: DataSource;
  readonly calls: TestLedger;
  readonly rollup: UsageRollup;
  readonly reports: UsageReports;

  private constructor(private readonly database: TestDatabase) {
    this.dataSource = database.dataSource;
    this.calls = ledgerOf(this.dataSource);
    this.rollup = new UsageRollup(this.dataSource, IDLE_TICKER);
    this.reports = new UsageReports(this.dataSource, { music: () => [] });
  }

  static async open(): Promise<UsageDesk> {
    return new UsageDesk(await createTestDatabase());
  }

  async close(): Promise<void> {
    await this.database.drop();
  }

  /** Folds until all of before is folded; a transaction of any database of the server puts that off. */
  async foldAll(): Promise<void> {
    const [from] = await this.dataSource.query<{ at: string }[]>(
      'SELECT clock_timestamp()::text AS at',
    );
    const isFolded = 'SELECT FROM usage_state WHERE folded_until > $1';
    for (let fold = 0; ; fold++) {
      await this.rollup.tick(0);
      if ((await this.dataSource.query<object[]>(isFolded, [from?.at])).length > 0) return;
      await sleep(Math.min(fold, LONGEST_PAUSE_MS));
    }
  }

  /** Usage of an account, of all days or hours. */
  rowsBy(accountId: string, ...groupBy: UsageDimension[]): Promise<UsageRow[]> {
    const of = { groupBy, accountId, apiKeyId: undefined, model: undefined };
    return this.reports.rows({ ...EVERYTHING, ...of });
  }
}
