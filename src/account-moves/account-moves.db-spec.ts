import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { ageRows } from '../../test/support/age-rows.js';
import { endTask } from '../../test/support/end-task.js';
import {
  FAILURE,
  fundedAccount,
  ledgerOf,
  startOf,
  successOf,
} from '../../test/support/test-ledger.js';
import { auditBooks } from '../billing/audit/usage-audit.js';
import { LedgerService } from '../billing/ledger/ledger.service.js';
import { SystemClock } from '../common/time/clock.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { exportAccount } from './account-export.js';
import { importAccount, refuseAccount } from './account-import.js';
import { endExport } from './account-leave.js';
import type { MoveWaits } from './move-session.js';
import { LEFT_TABLES, MOVED_TABLES, STAYING_TABLES } from './moved-tables.js';

const FUNDS = 1_000_000n;
const GRANTED = 5_000n;
const WAITS: MoveWaits = { closedMs: 0, foldMarginMs: 0, foldedMs: 10_000 };
const CELL = '07';
const ROWS = `
  SELECT row_to_json(r)::text AS row FROM (
    SELECT position, kind, amount, balance_after, hold_id, created_at FROM ledger_entry WHERE account_id = $1) r ORDER BY position`;
const USAGE = `
  SELECT row_to_json(u)::text AS row FROM usage_day u WHERE account_id = $1 ORDER BY 1`;
const EVERYBODY = `
  SELECT row_to_json(u)::text AS row FROM usage_day u WHERE account_id = '00000000-0000-0000-0000-000000000000' ORDER BY 1`;

describe('an account that moves to another cell', () => {
  let from: TestDatabase;
  let to: TestDatabase;
  let accountId: string;
  let folder: string;
  const signal = new AbortController().signal;

  const configOf = ({ url }: TestDatabase, cell?: string) =>
    ({ databaseUrl: url, migrationDatabaseUrl: undefined, cell }) as unknown as GatewayConfig;
  const exported = (name = 'file') =>
    exportAccount(
      configOf(from),
      { accountId, cell: CELL, file: join(folder, name), actor: 'test' },
      { clock: new SystemClock(), signal, waits: WAITS },
    );
  const imported = (name = 'file', cell: string | undefined = CELL) =>
    importAccount(
      configOf(to, cell),
      { file: join(folder, name), actor: 'test' },
      { signal, waits: WAITS },
    );
  const audited = async ({ dataSource }: TestDatabase) => auditBooks(dataSource, 'full');
  const rowsOf = async ({ dataSource }: TestDatabase, sql: string) =>
    (await dataSource.query<{ row: string }[]>(sql, sql === EVERYBODY ? [] : [accountId])).map(
      ({ row }) => row,
    );

  /** Calls that succeed, fail and are given back, a task, credits of both kinds. */
  async function spend(dataSource: DataSource, id: string): Promise<void> {
    const ledger = new LedgerService(dataSource);
    const { process, executions } = ledgerOf(dataSource);
    await process.heartbeat();
    await ledger.credit({
      accountId: id,
      amountMicroUsd: GRANTED,
      idempotencyKey: 'granted',
      reference: null,
      terms: {
        kind: 'granted',
        expiresAt: new Date(Date.now() + 86_400_000_000),
        paymentReference: null,
        currency: null,
        taxMicroUsd: null,
      },
    });
    for (let call = 0; call < 4; call += 1) {
      const start = { ...startOf(id, 3_000n), run: { id: 'a-run', limitMicroUsd: undefined } };
      await executions.begin(start);
      if (call === 3) await executions.fail(start, FAILURE);
      else await executions.succeed(start, successOf(2_500n));
      if (call === 0) {
        await ledger.refund({
          of: 'execution',
          id: start.executionId,
          amountMicroUsd: 700n,
          idempotencyKey: 'r',
          note: null,
        });
      }
    }
    const task = startOf(id, 400n).executionId;
    await ledger.hold(dataSource, {
      accountId: id,
      holdId: task,
      amountMicroUsd: 400n,
      owner: 'task',
    });
    await dataSource.query(
      `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox, upstream_model, reserved)
         VALUES ($1, $2, 'video', 'video', 'vid-1', '{"b":  1, "a":2}', 'video', 'http://v', false, 'v', 400)`,
      [id, task],
    );
    await endTask(dataSource, id, task, 400);
  }
  const close = () =>
    from.dataSource.query('UPDATE account SET disabled = true WHERE id = $1', [accountId]);

  beforeEach(async () => {
    [from, to] = [await createTestDatabase(), await createTestDatabase()];
    folder = await mkdtemp(join(tmpdir(), 'moves-'));
    accountId = await fundedAccount(from.dataSource, FUNDS, 'mover');
    await spend(from.dataSource, accountId);
    const other = await fundedAccount(from.dataSource, FUNDS, 'stayer');
    await spend(from.dataSource, other);
    await spend(to.dataSource, await fundedAccount(to.dataSource, FUNDS, 'neighbour'));
    await ageRows(from.dataSource, 1);
    await ageRows(to.dataSource, 1);
    for (const { dataSource } of [from, to]) {
      await dataSource.query(
        `UPDATE usage_state SET hours_from = '-infinity', held_from = '-infinity'`,
      );
    }
  });
  afterEach(async () => {
    await from.drop();
    await to.drop();
  });

  it('is the same there, gone here, and counted once in both books', async () => {
    const [before, neighbour] = [await audited(from), await audited(to)];
    expect([before, neighbour]).toMatchObject([{ ok: true }, { ok: true }]);
    await close();
    await exported();
    const [entries, usage] = [await rowsOf(from, ROWS), await rowsOf(from, USAGE)];
    expect(usage).not.toEqual([]);
    const { receipt, audit } = await imported();
    expect(audit).toMatchObject({ ok: true });
    expect(await rowsOf(to, ROWS)).toEqual(entries);
    expect(await rowsOf(to, USAGE)).toEqual(usage);
    const { audit: left } = await endExport(configOf(from), accountId, receipt);
    expect(left.ok).toBe(true);
    expect(left.postedMicroUsd + (await audited(to)).postedMicroUsd).toBe(
      before.postedMicroUsd + neighbour.postedMicroUsd,
    );
    for (const { name, where = 'account_id = $1' } of MOVED_TABLES) {
      if (name === 'account') continue;
      expect([
        name,
        ...(await from.dataSource.query<unknown[]>(`SELECT FROM ${name} WHERE ${where}`, [
          accountId,
        ])),
      ]).toEqual([name]);
    }
    expect(await rowsOf(from, EVERYBODY)).not.toEqual([]);
    const file = await stat(join(folder, 'file'));
    expect(file.mode & 0o777).toBe(0o600);
    // It goes on there: a call, and an entry behind the last one.
    await to.dataSource.query('UPDATE account SET disabled = false WHERE id = $1', [accountId]);
    const { process, executions } = ledgerOf(to.dataSource);
    await process.heartbeat();
    const start = startOf(accountId, 100n);
    expect(await executions.begin(start)).toMatchObject({ outcome: 'held' });
    await executions.succeed(start, successOf(100n));
    expect(await audited(to)).toMatchObject({ ok: true });
  });

  it('can neither spend nor be opened nor credited where it left, and is refused twice there', async () => {
    await close();
    await exported();
    const [enable, credit] = [
      from.dataSource.query('UPDATE account SET disabled = false WHERE id = $1', [accountId]),
      new LedgerService(from.dataSource).credit({
        accountId,
        amountMicroUsd: 1n,
        idempotencyKey: 'x',
        reference: null,
      }),
    ];
    await expect(enable).rejects.toThrow('account_is_sound');
    await expect(credit).rejects.toThrow('account_is_sound');
    const { receipt } = await imported();
    await expect(imported()).rejects.toThrow(`Its receipt is ${receipt}`);
    await endExport(configOf(from), accountId, receipt);
    await endExport(configOf(from), accountId, receipt);
    await expect(
      from.dataSource.query('UPDATE account SET disabled = false WHERE id = $1', [accountId]),
    ).rejects.toThrow('account_is_sound');
    await expect(exported('again')).rejects.toThrow('has moved to another cell');
  });

  it('comes back by the receipt of a refusal, and is then imported nowhere', async () => {
    await close();
    await exported();
    const { receipt } = await refuseAccount(
      configOf(to, CELL),
      { file: join(folder, 'file'), actor: 'test' },
      { signal, waits: WAITS },
    );
    await expect(imported()).rejects.toThrow('refused here already');
    await expect(
      endExport(configOf(from), accountId, receipt.replace('refused', 'imported')),
    ).rejects.toThrow('no receipt');
    expect(await endExport(configOf(from), accountId, receipt)).toMatchObject({
      outcome: 'refused',
    });
    await from.dataSource.query('UPDATE account SET disabled = false WHERE id = $1', [accountId]);
  });

  it('is refused while it is open, in use, or for another cell', async () => {
    await expect(exported()).rejects.toThrow('not disabled');
    await close();
    const holdId = startOf(accountId, 1n).executionId;
    await new LedgerService(from.dataSource).hold(from.dataSource, {
      accountId,
      holdId,
      amountMicroUsd: 1n,
      owner: 'task',
    });
    await expect(exported()).rejects.toThrow('1 holds are open');
    await new LedgerService(from.dataSource).release(from.dataSource, accountId, holdId);
    await ageRows(from.dataSource, 1);
    await exported();
    await expect(imported('file', '08')).rejects.toThrow('The file is for the cell 07');
  });

  it('is not imported from a file that was cut at any hundredth or changed', async () => {
    await close();
    await exported();
    const whole = await readFile(join(folder, 'file'));
    const text = gunzipSync(whole);
    const attempt = async (bytes: Buffer): Promise<void> => {
      await writeFile(join(folder, 'bad'), bytes);
      await expect(imported('bad')).rejects.toThrow('not what account:export wrote');
    };
    for (let percent = 0; percent < 100; percent += 1) {
      await attempt(whole.subarray(0, Math.floor((whole.length * percent) / 100)));
      await attempt(gzipSync(text.subarray(0, Math.floor((text.length * percent) / 100))));
    }
    const changed = Buffer.from(text.toString().replace('"amount":-2500', '"amount":-2400'));
    expect(changed.equals(text)).toBe(false);
    await attempt(gzipSync(changed));
    await attempt(gzipSync(Buffer.concat([text, Buffer.from('{}\n')])));
    expect(await to.dataSource.query('SELECT FROM account_move')).toEqual([]);
    await imported();
  });

  it('has every table of an account either in the file or named as left behind', async () => {
    const found = await from.dataSource.query<{ name: string }[]>(`
      SELECT DISTINCT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
         AND a.attname IN ('account_id', 'api_key_id')`);
    const named = [
      ...MOVED_TABLES.map(({ name }) => name),
      ...Object.keys(LEFT_TABLES),
      ...Object.keys(STAYING_TABLES),
    ];
    expect(
      found
        .map(({ name }) => name)
        .concat('account')
        .sort(),
    ).toEqual(named.sort());
  });
});
