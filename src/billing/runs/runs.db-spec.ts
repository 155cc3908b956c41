import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomInt, randomUUID } from 'node:crypto';
import { endTask } from '../../../test/support/end-task.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { balanceOf, fundedAccount, ledgerOf } from '../../../test/support/test-ledger.js';
import { FAILURE, startOf, successOf } from '../../../test/support/test-ledger.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { auditLedger } from '../audit/audit.js';
import { ExecutionRepository } from '../calls/execution.repository.js';
import { LedgerService } from '../ledger/ledger.service.js';
import { RunsService } from './runs.service.js';

const LIMIT = 5_000n;
const CALLS = 240;

let database: TestDatabase;
let ledger: LedgerService;
let runs: RunsService;
let accountId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  ledger = new LedgerService(database.dataSource);
  runs = new RunsService(database.dataSource);
  accountId = await fundedAccount(database.dataSource, 1_000_000n);
});
afterAll(() => database.drop());

const query = <Row>(sql: string, parameters: unknown[] = []) =>
  database.dataSource.query<Row[]>(sql, parameters);
const cancel = (account: string, id: string) =>
  query(`SELECT execution_cancel($1, $2, NULL, 'm', '/', 'service_unavailable', NULL, NULL)`, [
    account,
    id,
  ]);
async function submit(account: string, run: string, amount: number, limit: bigint | null = null) {
  const id = uuidV7(Date.now());
  const [row] = await query<{ outcome: string; room: string | null }>(
    `SELECT outcome, room FROM task_submit_v2($1, $2, NULL, 'song', 'audio', 'tune-music', NULL, '', '{}', 'sandbox', '',
       true, 'm', 'waiting:sandbox', $3, NULL, NULL, NULL, NULL, NULL, '/v1/music/generations', NULL, NULL, false, $4, $5, NULL)`,
    [account, id, amount, run, limit?.toString() ?? null],
  );
  return { id, ...row };
}
const isSound = async (): Promise<void> => {
  const report = await auditLedger(database.dataSource, 'full');
  expect(report).toMatchObject({ ok: true, discrepancies: [] });
};

describe('a run', () => {
  it('holds its limit under calls, tasks, failures, reversals and refunds of two processes at once', async () => {
    const account = await fundedAccount(database.dataSource, 1_000_000n);
    const processes = [ledgerOf(database.dataSource), ledgerOf(database.dataSource)];
    const names = ['one', 'two', 'three'];
    const call = async (index: number) => {
      const own = processes[index % 2]!.executions;
      const amount = BigInt(randomInt(50, 400));
      const run = { id: names[index % 3]!, limitMicroUsd: LIMIT };
      const fit = { floorMicroUsd: amount / 2n, promptMicroUsd: 10n };
      const start = { ...startOf(account, amount), run, ...(index % 4 === 0 && { fit }) };
      const result = await own.begin(start);
      if (result.outcome !== 'held') {
        expect(result.outcome).toBe('over_run');
        return;
      }
      const held = result.amountMicroUsd;
      if (index % 5 === 0) await own.fail(start, FAILURE);
      else await own.succeed(start, successOf(held / 2n));
      const part = { amountMicroUsd: 5n, idempotencyKey: 'a', note: null };
      const refund = { of: 'execution', id: start.executionId, ...part } as const;
      if (index % 6 === 0) await ledger.refund(refund).catch(() => 0);
      if (index % 7 === 0) await cancel(account, start.executionId);
    };
    const task = async (index: number) => {
      const { id, outcome } = await submit(account, names[index % 3]!, 300, LIMIT);
      if (outcome !== 'created') {
        expect(outcome).toBe('over_run');
        return;
      }
      if (index % 2 === 0) await endTask(database.dataSource, account, id, 'failed');
      else await endTask(database.dataSource, account, id, 120);
      if (index % 3 > 0) return;
      await query(`SELECT task_cancel_v2($1, $2, NULL, 'tune-music', '/v1/music/generations')`, [
        account,
        id,
      ]);
    };
    await Promise.all(
      Array.from({ length: CALLS }, (_, index) => (index % 9 === 8 ? task(index) : call(index))),
    );
    for (const name of names) {
      const { spentMicroUsd, heldMicroUsd, limitMicroUsd } = await runs.get(account, name);
      expect([limitMicroUsd, heldMicroUsd]).toEqual([LIMIT, 0n]);
      expect(spentMicroUsd).toBeLessThanOrEqual(LIMIT);
    }
    await isSound();
  });

  it('lets exactly as many parallel calls through as its limit covers', async () => {
    const { executions: own } = ledgerOf(database.dataSource);
    const run = { id: 'exact', limitMicroUsd: 1_000n };
    const results = await Promise.all(
      Array.from({ length: 60 }, () => own.begin({ ...startOf(accountId, 90n), run })),
    );
    const held = results.filter(({ outcome }) => outcome === 'held');
    expect(held).toHaveLength(11);
    expect(new Set(results.map(({ outcome }) => outcome))).toEqual(new Set(['held', 'over_run']));
    expect(await runs.get(accountId, 'exact')).toMatchObject({ heldMicroUsd: 990n, calls: 11 });
  });

  it('keeps the limit of its first call; another is a conflict, none is the same', async () => {
    const { executions: own } = ledgerOf(database.dataSource);
    const begin = (id: string, limitMicroUsd?: bigint) =>
      own.begin({ ...startOf(accountId, 10n), run: { id, limitMicroUsd } });
    expect(await begin('kept', 25n)).toMatchObject({ outcome: 'held' });
    expect(await begin('kept', 26n)).toEqual({ outcome: 'run_conflict', limitMicroUsd: 25n });
    expect(await begin('kept', 25n)).toMatchObject({ outcome: 'held' });
    expect(await begin('kept')).toEqual({ outcome: 'over_run', availableMicroUsd: 5n });
    expect(await begin('free')).toMatchObject({ outcome: 'held' });
    expect(await begin('free', 1n)).toEqual({ outcome: 'run_conflict', limitMicroUsd: null });
    expect(await submit(accountId, 'kept', 1, 26n)).toMatchObject({
      outcome: 'run_conflict',
      room: '25',
    });
    await isSound();
  });

  it('does not begin with a call that is refused', async () => {
    const { executions: own } = ledgerOf(database.dataSource);
    const run = { id: 'refused', limitMicroUsd: 5n };
    expect((await own.begin({ ...startOf(accountId, 10n), run })).outcome).toBe('over_run');
    await expect(runs.get(accountId, 'refused')).rejects.toThrow('No such run');
    const later = { id: 'refused', limitMicroUsd: 50n };
    expect((await own.begin({ ...startOf(accountId, 10n), run: later })).outcome).toBe('held');
  });

  it('begins with the first call of a statement that is held, whatever limits those before it named', async () => {
    const { process } = ledgerOf(database.dataSource);
    const statements = new ExecutionRepository(database.dataSource);
    const begin = (id: string, limitMicroUsd?: bigint) => {
      const start = { ...startOf(accountId, 10n), run: { id, limitMicroUsd } };
      return { kind: 'begin', accountId, start } as const;
    };
    const limited = [begin('mixed', 5n), begin('mixed', 50n), begin('mixed'), begin('mixed', 5n)];
    const free = [begin('free mixed', 5n), begin('free mixed'), begin('free mixed', 50n)];
    expect(await statements.commit(process.id, [...limited, ...free], true)).toMatchObject([
      { outcome: 'over_run', availableMicroUsd: 5n },
      { outcome: 'held' },
      { outcome: 'held' },
      { outcome: 'run_conflict', limitMicroUsd: 50n },
      { outcome: 'over_run', availableMicroUsd: 5n },
      { outcome: 'held' },
      { outcome: 'run_conflict', limitMicroUsd: null },
    ]);
    expect(await runs.get(accountId, 'mixed')).toMatchObject({ heldMicroUsd: 20n, calls: 2 });
    expect(await runs.get(accountId, 'free mixed')).toMatchObject({
      heldMicroUsd: 10n,
      calls: 1,
      limitMicroUsd: null,
    });
  });

  it('is freed where a lost process held for it', async () => {
    const lost = ledgerOf(database.dataSource);
    const start = { ...startOf(accountId, 70n), run: { id: 'lost' } };
    await lost.executions.begin(start);
    await query('SELECT execution_release($1, $2)', [accountId, [start.executionId]]);
    expect(await runs.get(accountId, 'lost')).toMatchObject({ heldMicroUsd: 0n, calls: 1 });
    await isSound();
  });

  it('counts a task that is delivered late, and gives back what an error takes from it', async () => {
    const { id } = await submit(accountId, 'late', 300);
    await endTask(database.dataSource, accountId, id, 'failed');
    expect(await runs.get(accountId, 'late')).toMatchObject({ heldMicroUsd: 0n });
    await query(`SELECT task_charge_late($1, $2, 200)`, [accountId, id]);
    await query(
      `UPDATE task SET status = 'succeeded', charged = 200, result = '{}', error_code = NULL, delivered_late = true
        WHERE id = $1`,
      [id],
    );
    expect(await runs.get(accountId, 'late')).toMatchObject({ spentMicroUsd: 200n });
    await query(`SELECT task_cancel_v2($1, $2, NULL, 'tune-music', '/v1/music/generations')`, [
      accountId,
      id,
    ]);
    expect(await runs.get(accountId, 'late')).toMatchObject({ spentMicroUsd: 0n, calls: 1 });
    await isSound();
  });

  it('is dropped after 30 days without a call; one of the same name begins anew', async () => {
    const { executions: own } = ledgerOf(database.dataSource);
    const run = { id: 'old', limitMicroUsd: 100n };
    const start = { ...startOf(accountId, 60n), run };
    await own.begin(start);
    await own.succeed(start, successOf(60n));
    await query(
      `INSERT INTO limit_notice VALUES ($1, 'run old', '1 100', 80), ($1, 'run open', '2 9', 80)`,
      [accountId],
    );
    const open = { ...startOf(accountId, 10n), run: { id: 'still open' } };
    await own.begin(open);
    const age = `interval '31 days'`;
    await query(
      `UPDATE run SET created_at = created_at - ${age}, last_used_at = last_used_at - ${age}
        WHERE id IN ('old', 'still open')`,
    );
    await query(`UPDATE execution SET created_at = created_at - ${age} WHERE id = $1`, [
      start.executionId,
    ]);
    expect(await query('SELECT run_drop(10) AS dropped')).toEqual([{ dropped: 1 }]);
    expect(await query('SELECT owner FROM limit_notice')).toEqual([{ owner: 'run open' }]);
    await expect(runs.get(accountId, 'old')).rejects.toThrow('No such run');
    const anew = { ...startOf(accountId, 90n), run };
    expect((await own.begin(anew)).outcome).toBe('held');
    const given = { of: 'execution', id: start.executionId, note: null } as const;
    await ledger.refund(given);
    expect(await runs.get(accountId, 'old')).toMatchObject({
      heldMicroUsd: 90n,
      spentMicroUsd: 0n,
    });
    await own.fail(open, FAILURE);
    await isSound();
  });

  it('keeps what records cost that are dropped before it', async () => {
    const account = await fundedAccount(database.dataSource, 1_000n);
    const { executions: own } = ledgerOf(database.dataSource);
    const run = { id: randomUUID() };
    const start = { ...startOf(account, 100n), run };
    await own.begin(start);
    await own.succeed(start, successOf(40n));
    await query(`SELECT run_note_dropped($1, $2, ARRAY[now()], $3)`, [
      [account],
      [run.id],
      [start.executionId],
    ]);
    await query('DELETE FROM execution WHERE id = $1', [start.executionId]);
    await query(`SELECT record_note_dropped($1, $2)`, [[account], [start.executionId]]);
    expect(await runs.get(account, run.id)).toMatchObject({ spentMicroUsd: 40n, calls: 1 });
    expect(await balanceOf(database.dataSource, account)).toEqual([960n, 0n]);
    await isSound();
  });

  it('is listed newest first, page by page', async () => {
    const account = await fundedAccount(database.dataSource, 1_000n);
    const { executions: own } = ledgerOf(database.dataSource);
    for (const id of ['a', 'b', 'c']) await own.begin({ ...startOf(account, 1n), run: { id } });
    const first = await runs.list(account, { limit: 2 });
    expect(first.items.map(({ id }) => id)).toEqual(['c', 'b']);
    const rest = await runs.list(account, { limit: 2, cursor: first.nextCursor ?? '' });
    expect(rest).toMatchObject({ items: [{ id: 'a' }], nextCursor: null });
  });
});
