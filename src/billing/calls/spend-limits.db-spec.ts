import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import { endTask } from '../../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { fundedAccount } from '../../../test/support/test-ledger.js';
import { FAILURE, ledgerOf, startOf, successOf } from '../../../test/support/test-ledger.js';
import { auditLedger } from '../audit/audit.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';

const CALLS = 400;
const ACCOUNTS = 3;
const LIMIT = 5_000n;
/** For calls that ended long ago. */
const OLD_CALLS = 3_000;
/** A little longer than the terms of a key are too new to begin its counter. */
const OLD_TERMS = `now() - interval '4 seconds'`;

let database: TestDatabase;
let ledger: LedgerService;

beforeAll(async () => {
  database = await createTestDatabase();
  ledger = new LedgerService(database.dataSource);
});
afterAll(() => database.drop());

const query = <Row>(sql: string, parameters: unknown[] = []) =>
  database.dataSource.query<Row[]>(sql, parameters);

async function newKey(
  accountId: string,
  since = 'NULL',
  period = 'day',
  id: string = randomUUID(),
): Promise<string> {
  await query(
    `INSERT INTO api_key (id, account_id, prefix, hash, created_at, spend_limit, spend_limit_period, spend_limit_since)
     VALUES ($1, $2, 'sk', $3, now(), $4, $5, ${since})`,
    [id, accountId, randomBytes(32), LIMIT.toString(), period],
  );
  return id;
}
const newAccount = () => fundedAccount(database.dataSource, 1_000_000n);
const credit = (accountId: string, amountMicroUsd: bigint) =>
  ledger.credit({ accountId, amountMicroUsd, idempotencyKey: randomUUID(), reference: null });

async function submitTask(accountId: string, keyId: string, amount: number) {
  const id = uuidV7(Date.now());
  const [row] = await query<{ outcome: string }>(
    `SELECT outcome FROM task_submit_v2($1, $2, $3, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '', true,
       'm', 'waiting:sandbox', $4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, true, NULL, NULL, NULL)`,
    [accountId, id, keyId, amount],
  );
  return { id, outcome: row?.outcome };
}
const failTask = (accountId: string, id: string) =>
  endTask(database.dataSource, accountId, id, 'failed');
const finishTask = (accountId: string, id: string, charge: number) =>
  endTask(database.dataSource, accountId, id, charge);

/** The sum in the counter, and the sum of the calls and tasks. */
async function spentOf(accountId: string, keyId: string) {
  const [row] = await query<{ counted: string; spent: string }>(
    `SELECT (SELECT spent FROM key_spend WHERE account_id = $1 AND api_key_id = $2) AS counted,
            key_spent($1, $2, key_period_start('day', now())) AS spent`,
    [accountId, keyId],
  );
  return { counted: BigInt(row?.counted ?? -1), spent: BigInt(row?.spent ?? -1) };
}

async function deadlocks(): Promise<number> {
  const [row] = await query<{ deadlocks: number }>(
    'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
  );
  return row?.deadlocks ?? 0;
}

/** Rows of calls that the session has read recently. */
async function readBy(runner: QueryRunner): Promise<number> {
  const [row] = (await runner.query(
    `SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int AS read FROM pg_stat_xact_user_tables WHERE relname = 'execution'`,
  )) as { read: number }[];
  return row?.read ?? 0;
}

describe('the limit of a key', () => {
  it('holds under calls, tasks, failures, reversals, refunds and credits of several accounts at once', async () => {
    const accounts = await Promise.all(Array.from({ length: ACCOUNTS }, newAccount));
    const keys = await Promise.all(accounts.map((id) => Promise.all([newKey(id), newKey(id)])));
    const processes = [ledgerOf(database.dataSource), ledgerOf(database.dataSource)];
    let passed = 0n;
    const isPassed = setInterval(() => {
      void query<{ over: string }>('SELECT count(*) AS over FROM key_spend WHERE spent > $1', [
        LIMIT.toString(),
      ]).then(([row]) => (passed += BigInt(row?.over ?? 0)));
    }, 50);
    const oneCall = async (accountId: string, keyId: string, index: number) => {
      const own = processes[index % 2];
      const amount = BigInt(randomInt(100, 400));
      const start = { ...startOf(accountId, amount), apiKeyId: keyId, isCapped: index % 7 > 0 };
      if (index % 7 === 0) start.apiKeyId = randomUUID();
      if ((await own?.executions.begin(start))?.outcome !== 'held') return;
      if (index % 3 === 0) await own?.executions.fail(start, FAILURE);
      else await own?.executions.succeed(start, successOf(amount / 2n));
      if (index % 5 === 0) {
        const part = index % 2 === 0 ? {} : { amountMicroUsd: 7n, idempotencyKey: 'a' };
        const refund = { of: 'execution', id: start.executionId, note: null, ...part } as const;
        await ledger.refund(refund).catch(() => 0);
      }
      if (index % 4 > 0) return;
      await query(
        `SELECT execution_cancel($1, $2, NULL, 'm', '/', 'service_unavailable', NULL, NULL)`,
        [accountId, start.executionId],
      );
    };
    const oneTask = async (accountId: string, keyId: string, index: number) => {
      const { id, outcome } = await submitTask(accountId, keyId, randomInt(100, 400));
      if (outcome !== 'created') return;
      await (index % 2 === 0 ? failTask(accountId, id) : finishTask(accountId, id, 90));
    };
    await Promise.all(
      Array.from({ length: CALLS }, async (_, index) => {
        const place = index % ACCOUNTS;
        const accountId = accounts[place] ?? '';
        const keyId = keys[place]?.[index % 2] ?? '';
        if (index % 10 === 9) await credit(accountId, 1n);
        if (index % 8 === 0) await oneTask(accountId, keyId, index / 8);
        else await oneCall(accountId, keyId, index);
      }),
    );
    clearInterval(isPassed);
    for (const [place, accountId] of accounts.entries()) {
      for (const keyId of keys[place] ?? []) {
        const { counted, spent } = await spentOf(accountId, keyId);
        expect(counted).toBe(spent);
        expect(spent).toBeLessThanOrEqual(LIMIT);
      }
    }
    expect(passed).toBe(0n);
    expect(await deadlocks()).toBe(0);
    expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true });
  });

  it('can be set while a task of the key ends, without a deadlock', async () => {
    const accountId = await newAccount();
    const keyId = await newKey(accountId);
    const { id } = await submitTask(accountId, keyId, 300);
    await query('DELETE FROM key_spend');
    await query(`UPDATE api_key SET spend_limit_since = ${OLD_TERMS} WHERE id = $1`, [keyId]);
    await query('UPDATE task SET spend_period = NULL WHERE id = $1', [id]);
    const ending = database.dataSource.createQueryRunner();
    await ending.startTransaction();
    // As task_complete does before it locks the account.
    await ending.query('SELECT FROM task WHERE account_id = $1 AND id = $2 FOR UPDATE', [
      accountId,
      id,
    ]);
    const room = await Promise.race([
      query<{ room: string }>('SELECT room FROM key_room($1, $2)', [accountId, keyId]),
      sleep(1_000, undefined, { ref: false }),
    ]);
    await ending.rollbackTransaction();
    await ending.release();
    expect(room).toEqual([{ room: (LIMIT - 300n).toString() }]);
    expect((await submitTask(accountId, keyId, 100)).outcome).toBe('created');
    await failTask(accountId, id);
    expect(await spentOf(accountId, keyId)).toEqual({ counted: 100n, spent: 100n });
  });

  it('starts from the sums of usage, without counting a call twice or missing a dropped one', async () => {
    const accountId = await newAccount();
    const keyId = randomUUID();
    const { executions } = ledgerOf(database.dataSource);
    const begin = async () => {
      const start = { ...startOf(accountId, 100n), apiKeyId: keyId };
      await executions.begin(start);
      return start;
    };
    const [paid, open] = [await begin(), await begin()];
    await executions.succeed(paid, successOf(70n));
    const isFolded = `SELECT FROM usage_account WHERE account_id = $1`;
    while ((await query(isFolded, [accountId])).length === 0) {
      await query(`SELECT usage_fold('1000 days', '0')`);
      await sleep(20);
    }
    const late = await begin();
    await executions.succeed(late, successOf(30n));
    const room = () => query('SELECT room FROM key_room($1, $2)', [accountId, keyId]);
    await newKey(accountId, OLD_TERMS, 'total', keyId);
    await query(`DELETE FROM execution WHERE id = $1`, [paid.executionId]);
    expect(await room()).toEqual([{ room: (LIMIT - 70n - 100n - 30n).toString() }]);
    await executions.succeed(open, successOf(20n));
    expect(await room()).toEqual([{ room: (LIMIT - 70n - 20n - 30n).toString() }]);
  });

  it('is read from the calls of its period, not from all calls of the key', async () => {
    const accountId = await newAccount();
    const keyId = await newKey(accountId, OLD_TERMS);
    await query(
      `INSERT INTO execution (account_id, id, api_key_id, created_at, held, model, endpoint, status, completed_at, charged)
       SELECT $1, (lpad(to_hex(((extract(epoch FROM now()) - 5 * 86400) * 1000)::bigint + n), 12, '0') || repeat('0', 20))::uuid,
              $2, now() - interval '5 days', 1, 'm', '/', 'succeeded', now(), 0 FROM generate_series(1, ${OLD_CALLS}) n`,
      [accountId, keyId],
    );
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    const before = await readBy(runner);
    await runner.query('SELECT * FROM key_room($1, $2)', [accountId, keyId]);
    const read = (await readBy(runner)) - before;
    await runner.commitTransaction();
    await runner.release();
    expect(read).toBeLessThan(100);
  });
});
