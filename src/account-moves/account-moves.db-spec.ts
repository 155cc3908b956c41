import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MovingAccount } from '../../test/support/moving-account.js';
import type { TestDatabase } from '../../test/support/test-database.js';
import { accountsOf, ledgerOf, startOf, successOf } from '../../test/support/test-ledger.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { MOVED_TABLES } from './moved-tables.js';

/** What the API answers for it. */
const LEAVES = { code: 'conflict', message: 'The account moves to another cell, or has moved.' };
const ROWS = `
  SELECT row_to_json(r)::text AS row FROM (
    SELECT position, kind, amount, balance_after, hold_id, created_at FROM ledger_entry WHERE account_id = $1) r ORDER BY position`;
const USAGE = `
  SELECT row_to_json(u)::text AS row FROM usage_day u WHERE account_id = $1 ORDER BY 1`;
const EVERYBODY = `
  SELECT row_to_json(u)::text AS row FROM usage_day u WHERE account_id = '00000000-0000-0000-0000-000000000000' ORDER BY 1`;

describe('an account that moves to another cell', () => {
  let move: MovingAccount;
  beforeEach(async () => {
    move = await MovingAccount.make();
  });
  afterEach(() => move.drop());

  const rowsOf = async ({ dataSource }: TestDatabase, sql: string) =>
    (await dataSource.query<{ row: string }[]>(sql, sql === EVERYBODY ? [] : [move.accountId])).map(
      ({ row }) => row,
    );

  it('is the same there, gone here, and counted once in both books', async () => {
    const [before, neighbour] = [await move.audit(move.from), await move.audit(move.to)];
    expect([before, neighbour]).toMatchObject([{ ok: true }, { ok: true }]);
    await move.close();
    await move.export();
    const [entries, usage] = [await rowsOf(move.from, ROWS), await rowsOf(move.from, USAGE)];
    expect(usage).not.toEqual([]);
    const { receipt, audit } = await move.import();
    expect(audit).toMatchObject({ ok: true });
    expect(await rowsOf(move.to, ROWS)).toEqual(entries);
    expect(await rowsOf(move.to, USAGE)).toEqual(usage);
    const { audit: left } = await move.end(receipt);
    expect(left.ok).toBe(true);
    expect(left.postedMicroUsd + (await move.audit(move.to)).postedMicroUsd).toBe(
      before.postedMicroUsd + neighbour.postedMicroUsd,
    );
    for (const { name, where = 'account_id = $1' } of MOVED_TABLES) {
      if (name === 'account') continue;
      expect([
        name,
        ...(await move.from.dataSource.query<unknown[]>(`SELECT FROM ${name} WHERE ${where}`, [
          move.accountId,
        ])),
      ]).toEqual([name]);
    }
    expect(await rowsOf(move.from, EVERYBODY)).not.toEqual([]);
    const file = await stat(move.fileOf('file'));
    expect(file.mode & 0o777).toBe(0o600);
    // It goes on there: a call, and an entry behind the last one.
    await move.to.dataSource.query('UPDATE account SET disabled = false WHERE id = $1', [
      move.accountId,
    ]);
    const { process, executions } = ledgerOf(move.to.dataSource);
    await process.heartbeat();
    const start = startOf(move.accountId, 100n);
    expect(await executions.begin(start)).toMatchObject({ outcome: 'held' });
    await executions.succeed(start, successOf(100n));
    expect(await move.audit(move.to)).toMatchObject({ ok: true });
  });

  it('can neither be opened nor changed nor credited where it left, and is refused twice there', async () => {
    await move.close();
    await move.export();
    const { dataSource } = move.from;
    const { accountId } = move;
    const ledger = new LedgerService(dataSource);
    const [call] = await dataSource.query<{ id: string }[]>(
      `SELECT id FROM execution WHERE account_id = $1 AND charged - coalesce(refunded, 0) > 0`,
      [accountId],
    );
    const refund = {
      ...{ of: 'execution' as const, id: call?.id ?? '', amountMicroUsd: 1n },
      ...{ idempotencyKey: 'late', note: null },
    };
    const credit = { accountId, amountMicroUsd: 1n, idempotencyKey: 'x', reference: null };
    const accounts = accountsOf(dataSource);
    await expect(accounts.update(accountId, { isDisabled: false })).rejects.toMatchObject(LEAVES);
    await expect(accounts.update(accountId, { name: 'new' })).rejects.toMatchObject(LEAVES);
    await expect(ledger.credit(credit)).rejects.toMatchObject(LEAVES);
    await expect(ledger.refund(refund)).rejects.toMatchObject(LEAVES);
    const { receipt } = await move.import();
    await expect(move.import()).rejects.toThrow(`Its receipt is ${receipt}`);
    await move.end(receipt);
    await move.end(receipt);
    await expect(accounts.update(accountId, { isDisabled: false })).rejects.toMatchObject(LEAVES);
    await expect(ledger.credit(credit)).rejects.toMatchObject(LEAVES);
    await expect(
      dataSource.query('UPDATE account SET disabled = false WHERE id = $1', [accountId]),
    ).rejects.toThrow('account_that_leaves_rests');
    await expect(move.export('again')).rejects.toThrow('has moved to another cell');
  });

  it('comes back by the receipt of a refusal, and is then imported nowhere', async () => {
    await move.close();
    await move.export();
    const { receipt } = await move.refuse();
    await expect(move.import()).rejects.toThrow('refused here already');
    await expect(move.end(receipt.replace('refused', 'imported'))).rejects.toThrow('no receipt');
    expect(await move.end(receipt)).toMatchObject({
      outcome: 'refused',
    });
    await move.from.dataSource.query('UPDATE account SET disabled = false WHERE id = $1', [
      move.accountId,
    ]);
  });
});
