import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount, ledgerOf, startOf, successOf } from '../../../test/support/test-ledger.js';
import { DAY_MS } from '../../common/time/spans.js';
import { auditBooks } from '../audit/usage-audit.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';

const LIMIT = 5_000;
/** Older than the month, whatever day it is. */
const LONG_AGO_DAYS = 40;

let database: TestDatabase;
let accountId: string;
let keyId: string;

beforeEach(async () => {
  database = await createTestDatabase();
  // So that calls of long ago are folded.
  await query(`UPDATE usage_state SET folded_until = folded_until - interval '90 days'`);
  accountId = await fundedAccount(database.dataSource, 1_000_000n);
  keyId = randomUUID();
});
afterEach(() => database.drop());

const query = <Row>(sql: string, parameters: unknown[] = []) =>
  database.dataSource.query<Row[]>(sql, parameters);

/** A call of the key that was charged so many days ago. */
async function charge(amount: bigint, daysAgo = 0): Promise<string> {
  const { executions } = ledgerOf(database.dataSource);
  const executionId = uuidV7(Date.now() - daysAgo * DAY_MS);
  const start = { ...startOf(accountId, amount), executionId, apiKeyId: keyId };
  await executions.begin(start);
  await executions.succeed(start, successOf(amount));
  await query(`DO $do$ BEGIN
    SET LOCAL session_replication_role = 'replica';
    UPDATE execution SET created_at = created_at - interval '${daysAgo} days',
      completed_at = completed_at - interval '${daysAgo} days' WHERE id = '${executionId}';
    UPDATE ledger_entry SET created_at = created_at - interval '${daysAgo} days' WHERE hold_id = '${executionId}';
    END $do$`);
  return executionId;
}
const refund = (id: string, amount: number | null = null) =>
  query(`SELECT execution_refund_v2($1, $2, $3, NULL, 'sorry')`, [accountId, id, amount]);
const cancel = (id: string) =>
  query(`SELECT execution_cancel($1, $2, NULL, 'm', '/', 'service_unavailable', NULL, NULL)`, [
    accountId,
    id,
  ]);

/** Until all that is there is folded: a transaction of any database of the server puts that off. */
async function fold(): Promise<void> {
  const [from] = await query<{ at: string }>(`SELECT clock_timestamp()::text AS at`);
  const isFolded = 'SELECT FROM usage_state WHERE folded_until >= $1';
  while ((await query(isFolded, [from?.at])).length === 0) {
    await query(`SELECT usage_fold('1000 days', '0')`);
    await sleep(20);
  }
}

async function spentIn(period: string): Promise<number> {
  const [row] = await query<{ spent: number }>(
    `SELECT key_spent($1, $2, key_period_start($3, now()))::int AS spent`,
    [accountId, keyId, period],
  );
  return row?.spent ?? -1;
}

describe('the spending of a key after a refund', () => {
  it.each([
    ['refunded', 'day', 2, 0],
    ['refunded', 'month', LONG_AGO_DAYS, 0],
    ['refunded', 'total', LONG_AGO_DAYS, 0],
    ['refunded', 'day', 0, 0],
    ['refunded in part', 'day', 2, 0],
    ['refunded in part', 'total', LONG_AGO_DAYS, 3_000],
    ['refunded in part', 'day', 0, 3_000],
    ['reversed', 'day', 2, 0],
    ['reversed', 'month', LONG_AGO_DAYS, 0],
    ['reversed', 'total', LONG_AGO_DAYS, 0],
    ['reversed', 'day', 0, 0],
  ])(
    'a call %s counts within the %s, made %d days ago, as %d',
    async (how, period, days, counts) => {
      const id = await charge(4_000n, days);
      await fold();
      expect(await spentIn(period)).toBe(period === 'total' || days === 0 ? 4_000 : 0);
      if (how === 'reversed') await cancel(id);
      else await refund(id, how === 'refunded' ? null : 1_000);
      // What is given back counts until it is folded.
      expect(await spentIn(period)).toBeGreaterThanOrEqual(counts);
      await fold();
      expect(await spentIn(period)).toBe(counts);
      expect(await auditBooks(database.dataSource, 'full')).toMatchObject({ discrepancies: [] });
    },
  );

  it('is the same when charge and refund are folded together, and when a refund is reversed', async () => {
    const [old, young] = [await charge(4_000n, 2), await charge(300n)];
    await charge(50n);
    await refund(old);
    await refund(young);
    expect(await spentIn('day')).toBe(50);
    await fold();
    expect(await spentIn('day')).toBe(50);
    await cancel(old);
    await fold();
    expect(await spentIn('day')).toBe(50);
    expect(await spentIn('total')).toBe(50);
    expect(await auditBooks(database.dataSource, 'full')).toMatchObject({ discrepancies: [] });
  });

  it('leaves no more than the limit to spend', async () => {
    await refund(await charge(4_000n, 2));
    await fold();
    await query(
      `INSERT INTO api_key (id, account_id, prefix, hash, created_at, spend_limit, spend_limit_period)
       VALUES ($1, $2, 'sk', $3, now(), ${LIMIT}, 'day')`,
      [keyId, accountId, randomBytes(32)],
    );
    expect(await query('SELECT room::int FROM key_room($1, $2)', [accountId, keyId])).toEqual([
      { room: LIMIT },
    ]);
  });
});
