import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { ageRows } from '../../../test/support/age-rows.js';
import { endTask } from '../../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import {
  balanceOf,
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../../test/support/test-ledger.js';
import { auditBooks } from '../audit/usage-audit.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { ReversalRepository } from '../recovery/reversal.repository.js';
import type { Reversal } from '../recovery/reversal.js';
import type { Scheduler } from '../../platform/scheduler/scheduler.js';
import { UsageReports } from '../usage/usage-reports.js';
import { RecordRetention } from './record-retention.js';
import { DAY_MS } from '../../common/time/spans.js';

const DAYS = 30;
const LONG_AGO_DAYS = 77;
const FUNDS = 1_000n;
const PRICE = 200n;
const NO_KEY = '00000000-0000-0000-0000-000000000000';

describe('the reversal of a dropped record', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let accountId: string;
  let apiKeyId: string;
  let retention: RecordRetention;
  beforeEach(async () => {
    database = await createTestDatabase();
    dataSource = database.dataSource;
    accountId = await fundedAccount(dataSource, FUNDS);
    apiKeyId = randomUUID();
    await dataSource.query(
      `INSERT INTO api_key (id, account_id, prefix, hash, created_at, spend_limit, spend_limit_period, spend_limit_since)
       VALUES ($1, $2, 'sk', $3, now(), 500, 'total', now() - interval '4 seconds')`,
      [apiKeyId, accountId, randomBytes(32)],
    );
    retention = new RecordRetention(dataSource, {} as Scheduler, { recordRetentionDays: DAYS });
  });
  afterEach(() => database.drop());

  const oldId = () => uuidV7(Date.now() - LONG_AGO_DAYS * DAY_MS);

  async function call(isPaid: boolean): Promise<Reversal> {
    const { executions } = ledgerOf(dataSource);
    const start = { ...startOf(accountId, PRICE), executionId: oldId(), apiKeyId, isCapped: true };
    await executions.begin(start);
    await (isPaid ? executions.succeed(start, successOf(PRICE)) : executions.fail(start, FAILURE));
    return { ...start, ...FAILURE };
  }
  async function task(): Promise<Reversal> {
    const taskId = oldId();
    await dataSource.query(
      `SELECT task_submit_v2($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true, 'm',
         'waiting:sandbox', 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL, NULL)`,
      [accountId, taskId, apiKeyId],
    );
    await endTask(dataSource, accountId, taskId, 200);
    return { taskId, accountId, bought: { apiKeyId, model: 'tune-music', kind: 'song' } };
  }
  /** What the key used, by all its days, what is left of its limit, and what no key used. */
  async function usage() {
    const reports = new UsageReports(dataSource, { music: () => [] });
    const [limit] = await dataSource.query<{ counted: string; read: string; room: string }[]>(
      `SELECT (SELECT spent FROM key_spend WHERE api_key_id = $2) AS counted,
              key_spent($1, $2, '-infinity') AS read, (SELECT room FROM key_room($1, $2))`,
      [accountId, apiKeyId],
    );
    const charged = await reports.chargedTo(accountId, apiKeyId);
    return { charged, ofNoKey: await reports.chargedTo(accountId, NO_KEY), ...limit };
  }
  const findings = async () => (await auditBooks(dataSource, 'full')).discrepancies;

  async function fold(): Promise<void> {
    const [from] = await dataSource.query<{ at: string }[]>(`SELECT clock_timestamp()::text AS at`);
    const isFolded = 'SELECT FROM usage_state WHERE folded_until >= $1';
    while ((await dataSource.query<object[]>(isFolded, [from?.at])).length === 0) {
      await dataSource.query(`SELECT usage_fold('1000 days', '0')`);
      await sleep(20);
    }
  }

  /** Everything is old, summed up and proven; then it is dropped. */
  async function drop(): Promise<number> {
    await ageRows(dataSource, LONG_AGO_DAYS);
    await fold();
    expect(await findings()).toEqual([]);
    return retention.tick(DAYS);
  }

  it.each([
    ['call', () => call(true), null],
    ['task', task, 'task'],
  ] as const)(
    'refunds the charge once, and the audit of a %s finds no error',
    async (_, buy, owner) => {
      const owed = await buy();
      const cancellations = new ReversalRepository(dataSource);
      expect(await drop()).toBe(1);
      expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS - PRICE, 0n]);
      expect(await cancellations.cancel(owed)).toBe('reversed');
      expect(await cancellations.cancel(owed)).toBe('nothing');
      expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS, 0n]);
      expect(await findings()).toEqual([]);
      const made = await dataSource.query<object[]>(
        'SELECT id FROM execution UNION ALL SELECT id FROM hold',
      );
      expect(made).toEqual([]);
      const { items } = await new LedgerService(dataSource).entries(accountId, { limit: 10 });
      expect(items.map(({ kind, holdOwner }) => [kind, holdOwner])).toEqual([
        ['correction', owner],
        ['charge', owner],
        ['credit', null],
      ]);
    },
  );

  it.each([
    ['call', () => call(true)],
    ['task', task],
  ] as const)('keeps usage and limit of its key unchanged, for a %s', async (_, buy) => {
    const owed = await buy();
    expect(await drop()).toBe(1);
    const spent = { charged: PRICE, ofNoKey: 0n, counted: '200', read: '200', room: '300' };
    expect(await usage()).toEqual(spent);
    const cancellations = new ReversalRepository(dataSource);
    await cancellations.cancel(owed);
    await cancellations.cancel(owed);
    await fold();
    const nothing = { charged: 0n, ofNoKey: 0n, counted: '0', read: '0', room: '500' };
    expect(await usage()).toEqual(nothing);
    expect(await findings()).toEqual([]);
  });

  it('refunds nothing without a charge, and its id stays in use', async () => {
    const owed = await call(false);
    expect(await drop()).toBe(1);
    const cancellations = new ReversalRepository(dataSource);
    expect(await cancellations.cancel(owed)).toBe('cancelled');
    expect(await cancellations.cancel(owed)).toBe('nothing');
    expect(await balanceOf(dataSource, accountId)).toEqual([FUNDS, 0n]);
    expect(await findings()).toEqual([]);
  });

  it('refunds nothing for a record deleted in another way, which an audit reports', async () => {
    const [dropped, gone] = [await call(true), await call(true)];
    await drop();
    const until = 'executionId' in dropped ? dropped.executionId : '';
    await dataSource.query(`UPDATE dropped_record SET until_id = $1`, [until]);
    expect(await new ReversalRepository(dataSource).cancel(gone)).toBe('cancelled');
    expect(await findings()).not.toEqual([]);
  });
});
