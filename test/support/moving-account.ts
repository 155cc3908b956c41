import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import { exportAccount } from '../../src/account-moves/account-export.js';
import { importAccount, refuseAccount } from '../../src/account-moves/account-import.js';
import { endExport } from '../../src/account-moves/account-leave.js';
import { type MoveWaits, readCell } from '../../src/account-moves/move-session.js';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { LedgerService } from '../../src/billing/ledger/ledger.service.js';
import { SystemClock } from '../../src/common/time/clock.js';
import type { GatewayConfig } from '../../src/platform/config/gateway-config.js';
import { ageRows } from './age-rows.js';
import { endTask } from './end-task.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { FAILURE, fundedAccount, ledgerOf, startOf, successOf } from './test-ledger.js';

const FUNDS = 1_000_000n;
const GRANTED = 5_000n;
const WAITS: MoveWaits = { closedMs: 0, foldMarginMs: 0, foldedMs: 10_000, owedMs: 0 };

/** An account with a history in the database of one cell, which moves to that of another. */
export class MovingAccount {
  private readonly signal = new AbortController().signal;

  private constructor(
    readonly from: TestDatabase,
    readonly to: TestDatabase,
    readonly accountId: string,
    readonly folder: string,
  ) {}

  /** Makes both databases; each has another account with the same history. */
  static async make(): Promise<MovingAccount> {
    const [from, to] = [await createTestDatabase(), await createTestDatabase()];
    const folder = await mkdtemp(join(tmpdir(), 'moves-'));
    const accountId = await fundedAccount(from.dataSource, FUNDS, 'mover');
    await spend(from.dataSource, accountId);
    await spend(from.dataSource, await fundedAccount(from.dataSource, FUNDS, 'stayer'));
    await spend(to.dataSource, await fundedAccount(to.dataSource, FUNDS, 'neighbour'));
    for (const { dataSource } of [from, to]) {
      await ageRows(dataSource, 1);
      await dataSource.query(
        `UPDATE usage_state SET hours_from = '-infinity', held_from = '-infinity'`,
      );
    }
    return new MovingAccount(from, to, accountId, folder);
  }

  /** The same account on its way back. */
  turned(): MovingAccount {
    return new MovingAccount(this.to, this.from, this.accountId, this.folder);
  }

  /** The id of the cell of a database. */
  async cellOf(database: TestDatabase, name?: string): Promise<string> {
    return (await readCell(this.configOf(database, name))).id;
  }

  async close(): Promise<void> {
    await this.from.dataSource.query('UPDATE account SET disabled = true WHERE id = $1', [
      this.accountId,
    ]);
  }

  fileOf(name = 'file'): string {
    return join(this.folder, name);
  }

  async export(
    name?: string,
    terms: { readonly withoutContent?: boolean; readonly cell?: string } = {},
  ) {
    const { accountId } = this;
    const cell = await this.cellOf(this.to);
    return exportAccount(
      this.configOf(this.from),
      { accountId, cell, file: this.fileOf(name), actor: 'test', ...terms },
      { clock: new SystemClock(), signal: this.signal, waits: WAITS },
    );
  }

  import(name?: string, into = this.to) {
    return importAccount(
      this.configOf(into),
      { file: this.fileOf(name), actor: 'test' },
      { signal: this.signal, waits: WAITS },
    );
  }

  refuse(by = this.to) {
    return refuseAccount(
      this.configOf(by),
      { file: this.fileOf(), actor: 'test' },
      { signal: this.signal },
    );
  }

  end(receipt: string) {
    return endExport(this.configOf(this.from), this.accountId, receipt);
  }

  /** The full audit of a cell. */
  audit({ dataSource }: TestDatabase) {
    return auditBooks(dataSource, 'full');
  }

  async drop(): Promise<void> {
    await this.from.drop();
    await this.to.drop();
  }

  private configOf({ url }: TestDatabase, cell?: string): GatewayConfig {
    const dataDir = this.folder;
    return {
      ...{ databaseUrl: url, migrationDatabaseUrl: undefined, dataDir, cell },
    } as unknown as GatewayConfig;
  }
}

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
