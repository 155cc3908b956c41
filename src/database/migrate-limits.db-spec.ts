import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { formerBegin, formerEnd } from '../../test/support/former-steps.js';
import {
  FAILURE,
  IDLE_TICKER,
  ledgerOf,
  startOf,
  successOf,
} from '../../test/support/test-ledger.js';
import { auditLedger } from '../billing/audit/audit.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { UsageRollup } from '../billing/usage/usage-rollup.js';
import { createDataSource } from './data-source.js';
import { MIGRATIONS } from './migration-list.js';
import { runMigrations } from './run-migrations.js';

/** The last migration of the version without limits, refunds and usage. */
const LAST_OF_BEFORE = 97;
const LIMIT = 2_000;
const numberOf = ({ name }: { name: string }): number => Number(name.slice(-13)) % 1_000;

describe('the books of a gateway without limits, refunds and usage', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  const accountId = uuidV7(Date.now());
  const keyId = randomUUID();
  const call = () => ({ ...startOf(accountId, 100n), apiKeyId: keyId });
  const [paid, lost, open, openToo, given] = [call(), call(), call(), call(), call()];
  const [running, made, unclear] = Array.from({ length: 3 }, () => uuidV7(Date.now()));

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    await dataSource.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    const before = createDataSource({ url: database.url, poolSize: 2 });
    before.setOptions({
      migrations: MIGRATIONS.filter((each) => numberOf(each) <= LAST_OF_BEFORE),
    });
    await runMigrations(await before.initialize());
    await fill(before);
    await before.destroy();
    await runMigrations(dataSource);
  });
  afterAll(() => database.drop());

  async function fill(before: DataSource): Promise<void> {
    await before.query(`INSERT INTO account (id, name) VALUES ($1, 'old')`, [accountId]);
    await before.query(`SELECT ledger_credit($1, 10000, 'credit', 'start', NULL)`, [accountId]);
    await before.query(
      `INSERT INTO api_key (id, account_id, prefix, hash, created_at) VALUES ($1, $2, 'sk', $3, now())`,
      [keyId, accountId, randomBytes(32)],
    );
    for (const start of [paid, lost, open, openToo, given]) await formerBegin(before, start);
    const quantity = {
      promptTokens: 30,
      completionTokens: 30,
      cachedTokens: 0,
      reasoningTokens: 0,
    };
    const unitPrice = { inputPerMillion: '1000000', outputPerMillion: '1000000' };
    const basis = { unit: 'token', quantity, unitPrice, isEstimated: false } as const;
    await formerEnd(before, paid, 60n, basis);
    await formerEnd(before, lost, null);
    await formerEnd(before, given, 70n);
    await before.query(
      `SELECT execution_cancel($1, $2, NULL, 'm', '/', 'service_unavailable', NULL, NULL)`,
      [accountId, given.executionId],
    );
    for (const id of [running, made, unclear]) {
      await before.query(
        `SELECT task_submit($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
           'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL)`,
        [accountId, id, keyId],
      );
    }
    await endTask(before, made, 'succeeded', 'settle', 200);
    await endTask(before, unclear, 'reconciliation_required', 'keep', null);
  }

  const endTask = (
    on: DataSource,
    id: string | undefined,
    status: string,
    money: string,
    charge: number | null,
  ) =>
    on.query(
      `SELECT task_end($1, $2, NULL, ARRAY['queued', 'processing', 'reconciliation_required'], $3, $4, $5, NULL, NULL,
         $6, $7, $7, NULL, now(), NULL, NULL, false)`,
      [accountId, id, status, money, charge, charge && '{}', status === 'failed' ? 'x' : null],
    );

  const spentOf = async () =>
    dataSource.query<unknown>('SELECT spent::int FROM key_spend WHERE api_key_id = $1', [keyId]);

  it('are exact after the migration', async () => {
    expect(await auditLedger(dataSource, 'full')).toMatchObject({
      ok: true,
      discrepancies: [],
      postedMicroUsd: 9_740n,
      heldMicroUsd: 600n,
    });
  });

  it('count what the key spent and holds towards a limit set now, also as it ends', async () => {
    await dataSource.query(
      `UPDATE api_key SET spend_limit = $2, spend_limit_period = 'month', spend_limit_since = now() - interval '4 seconds'
        WHERE id = $1`,
      [keyId, LIMIT],
    );
    const { executions } = ledgerOf(dataSource);
    const start = { ...call(), isCapped: true };
    expect(await executions.begin(start)).toBe('held');
    // 60 paid, two calls and two tasks open, one task paid, and the new one.
    expect(await spentOf()).toEqual([{ spent: 60 + 200 + 400 + 200 + 100 }]);
    await executions.succeed(open, successOf(40n));
    await executions.fail(openToo, FAILURE);
    await executions.fail(start, FAILURE);
    await endTask(dataSource, running, 'failed', 'release', null);
    await endTask(dataSource, unclear, 'succeeded', 'settle', 150);
    expect(await spentOf()).toEqual([{ spent: 60 + 40 + 200 + 150 }]);
    expect(await auditLedger(dataSource, 'full')).toMatchObject({ ok: true, heldMicroUsd: 0n });
  });

  it('refund an older charge once, and sum up to the ledger', async () => {
    const ledger = new LedgerService(dataSource);
    const refunds = await Promise.allSettled(
      Array.from({ length: 8 }, () =>
        ledger.refund({ of: 'execution', id: paid.executionId, note: 'sorry' }),
      ),
    );
    expect(refunds.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(
      ledger.refund({ of: 'execution', id: given.executionId, note: null }),
    ).rejects.toMatchObject({
      code: 'invalid_request',
    });
    const rollup = new UsageRollup(dataSource, IDLE_TICKER);
    // A transaction of any database of the server puts folding off.
    const isFolded = 'SELECT FROM usage_account WHERE account_id = $1';
    while ((await dataSource.query<object[]>(isFolded, [accountId])).length === 0) {
      await rollup.tick(0);
      await sleep(20);
    }
    const sums = await dataSource.query<unknown>(
      `SELECT (SELECT sum(charged)::int FROM usage_day WHERE account_id = $1) AS days,
              (SELECT sum(calls)::int FROM usage_day WHERE account_id = $1) AS calls,
              (SELECT charged::int FROM usage_account WHERE account_id = $1) AS account,
              (SELECT count(*)::int FROM usage_pending) AS pending,
              (SELECT -sum(amount)::int FROM ledger_entry WHERE account_id = $1 AND hold_id IS NOT NULL) AS ledger`,
      [accountId],
    );
    const charged = 40 + 200 + 150;
    expect(sums).toEqual([
      { days: charged, calls: 9, account: charged, pending: 0, ledger: charged },
    ]);
    expect(await auditLedger(dataSource, 'full')).toMatchObject({ ok: true });
  });

  it('count what was given back, also where 0206 ran when it did not', async () => {
    const sums = () =>
      dataSource.query<{ charged: string }[]>(
        `SELECT day, api_key_id, charged, given_back FROM usage_day
          WHERE account_id = $1 ORDER BY 1, 2, model, endpoint`,
        [accountId],
      );
    const before = await sums();
    await dataSource.query(
      `ALTER TABLE usage_day DROP COLUMN given_back; DELETE FROM migration WHERE name LIKE 'GivenBack%'`,
    );
    await runMigrations(dataSource);
    // Limits did not follow refunds then: what was refunded of the call that still costs 40 counts apart.
    const refunded = (row: { charged: string }) => row.charged === '40' && { given_back: '60' };
    expect(await sums()).toEqual(before.map((row) => ({ ...row, ...refunded(row) })));
  });

  it('let no fold add to the days alone that began before there were months', async () => {
    const foldAsBefore = () => dataSource.query(`SELECT usage_fold_before('1 day', '0')`);
    await dataSource.query(
      `ALTER FUNCTION usage_fold RENAME TO usage_fold_before; DROP TABLE usage_month, usage_month_latency;
       DROP INDEX usage_day_by_day, usage_latency_by_day; DELETE FROM migration WHERE name LIKE 'UsageMonths%'`,
    );
    const { executions } = ledgerOf(dataSource);
    const late = call();
    await executions.begin(late);
    await executions.succeed(late, successOf(80n));
    await foldAsBefore();
    await runMigrations(dataSource);
    await foldAsBefore();
    const [sums] = await dataSource.query<{ days: string; months: string }[]>(
      `SELECT (SELECT sum(charged) FROM usage_day WHERE account_id = $1) AS days,
              (SELECT sum(charged) FROM usage_month WHERE account_id = $1) AS months`,
      [accountId],
    );
    expect(sums?.months).toBe(sums?.days);
  });
});
