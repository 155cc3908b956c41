import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { MovingAccount } from '../../test/support/moving-account.js';
import type { TestDatabase } from '../../test/support/test-database.js';
import { accountsOf, ledgerOf, startOf, successOf } from '../../test/support/test-ledger.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { onOneSnapshot, readCell } from './move-session.js';
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

  it('moves back, and nothing that came where it had left is in its way', async () => {
    const before = await move.audit(move.from);
    await move.close();
    await move.export('there');
    await move.end((await move.import('there')).receipt);
    const { dataSource } = move.from;
    const { accountId } = move;
    const calls = await move.to.dataSource.query<{ id: string; api_key_id: string | null }[]>(
      'SELECT id, api_key_id FROM execution WHERE account_id = $1',
      [accountId],
    );
    // As a process of a former version makes up for a call and a task that it does not know to have left.
    for (const { id } of calls) {
      expect(
        await dataSource.query(
          `SELECT execution_cancel($1, $2, NULL, 'm', '/v1', 'internal_error', NULL, NULL) AS call,
                  task_cancel($1, $2, NULL, 'm', 'video') AS task`,
          [accountId, id],
        ),
      ).toEqual([{ call: 'missing', task: 'missing' }]);
    }
    expect(
      await dataSource.query('SELECT FROM execution WHERE account_id = $1', [accountId]),
    ).toEqual([]);
    // And as one wrote it before.
    await dataSource.query(
      `INSERT INTO execution (account_id, id, held, model, endpoint, status, completed_at, error_code)
         VALUES ($1, $2, 0, 'm', '/v1', 'failed', now(), 'internal_error')`,
      [accountId, calls[0]?.id],
    );
    const back = move.turned();
    await back.export('back');
    const { receipt, audit } = await back.import('back');
    expect(audit).toMatchObject({ ok: true, postedMicroUsd: before.postedMicroUsd });
    expect((await back.end(receipt)).audit.ok).toBe(true);
    expect(
      await dataSource.query(
        `SELECT id, api_key_id FROM execution WHERE account_id = $1 ORDER BY id`,
        [accountId],
      ),
    ).toEqual(calls.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
    await expect(move.end(receipt)).rejects.toThrow('no receipt');
    await expect(back.export('again')).rejects.toThrow('has moved to another cell');
  });

  it('is told to run again where other work came first each time, and needs the owner of the tables', async () => {
    const beaten = onOneSnapshot(move.from.dataSource, (manager) =>
      manager.query(`DO $$ BEGIN RAISE 'beaten' USING ERRCODE = 'serialization_failure'; END $$`),
    );
    await expect(beaten).rejects.toThrow('Nothing was changed; run it again');
    const role = `shim_run_${randomUUID().replaceAll('-', '')}`;
    const url = new URL(move.from.url);
    url.username = role;
    const { dataSource } = move.from;
    await dataSource.query(`CREATE ROLE ${role} LOGIN; GRANT pg_read_all_data TO ${role}`);
    const config = { databaseUrl: url.href, migrationDatabaseUrl: undefined, cell: undefined };
    const refusal = await readCell(config).catch((error: unknown) => error);
    await dataSource.query(`DROP ROLE ${role}`);
    expect(refusal).toMatchObject({ message: expect.stringContaining('does not own') as unknown });
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
    // The other database went back to before the refusal.
    await move.to.dataSource.query('DELETE FROM account_move');
    const { receipt: other } = await move.import();
    await expect(move.end(other)).rejects.toThrow(
      'has ended here as refused, so the account lives',
    );
    await expect(move.end(other)).rejects.toThrow('Disable it in one of them');
  });

  it('is said to be in no cell where the other one has forgotten its import', async () => {
    await move.close();
    await move.export();
    const { receipt } = await move.import();
    await move.end(receipt);
    await move.to.dataSource.query('DELETE FROM account_move');
    const { receipt: other } = await move.refuse();
    await expect(move.end(other)).rejects.toThrow('Keep the file of the move');
    expect(await move.end(receipt)).toMatchObject({ outcome: 'imported' });
  });
});
