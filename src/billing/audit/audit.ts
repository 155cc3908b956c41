import assert from 'node:assert/strict';
import type { DataSource, EntityManager } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { maintenanceConnectionOf } from '../../platform/database/data-source.js';
import { SESSION_SETTINGS } from '../../platform/database/session-settings.js';
import { transaction } from '../../platform/database/transaction.js';
import {
  ACCOUNT_RULES,
  CHARGE_RULES,
  CREATE_AUDITED,
  FILL_AUDITED,
  KEEP_CHECKPOINTS,
  KEEP_STATE,
  MAKER_RULES,
  MAX_DISCREPANCIES,
  TOTALS,
} from './audit-statements.js';
import { LOT_RULES } from './lot-audit-statements.js';
import { RUN_RULES } from './run-audit-statement.js';

/** One broken rule, with its account and a description. */
export interface Discrepancy {
  readonly accountId: string;
  readonly rule: string;
  readonly detail: string;
}

/** The result of an audit. Sums are over all accounts. */
export interface AuditReport {
  readonly ok: boolean;
  readonly accounts: number;
  readonly postedMicroUsd: MicroUsd;
  readonly entriesMicroUsd: MicroUsd;
  readonly heldMicroUsd: MicroUsd;
  readonly openHoldsMicroUsd: MicroUsd;
  /** The first 100. */
  readonly discrepancies: readonly Discrepancy[];
}

/** `full` reads all rows, `new` only rows since the last audit without findings. */
export type AuditScope = 'full' | 'new';

/** Start time of an audit that reads all rows. */
const NEVER = '-infinity';

interface StateRow {
  readonly executions_from: string;
  readonly holds_from: string;
}
interface TotalsRow {
  readonly accounts: string;
  readonly posted: string;
  readonly held: string;
  readonly entries: string;
  readonly open_holds: string;
}
interface DiscrepancyRow {
  readonly account_id: string;
  readonly rule: string;
  readonly detail: string;
}

/**
 * Audits the ledger on one consistent snapshot: sums, chains of balances, one outcome per hold, executions against entries,
 * charges against their quantities, kinds of money against entries (docs/operate/operations.md, "Audit and alerts"). The audit after one without findings
 * continues where that one ended.
 */
export async function auditLedger(
  dataSource: DataSource,
  scope: AuditScope = 'full',
): Promise<AuditReport> {
  // The normal connections cancel a statement after seconds.
  const maintenance = await maintenanceConnectionOf(dataSource).initialize();
  try {
    return await transaction(
      maintenance,
      async (manager) => auditLedgerIn(manager, await startOfAudit(manager, scope)),
      'REPEATABLE READ',
    );
  } finally {
    await maintenance.destroy();
  }
}

/**
 * The large tables of which the planner knows nothing yet, for example after a restore or a first burst. An audit would look
 * for each charge among all entries of its account.
 */
const NEVER_ANALYZED = `
  SELECT oid::regclass::text AS name FROM pg_class
   WHERE oid IN ('execution'::regclass, 'hold'::regclass, 'ledger_entry'::regclass, 'task'::regclass) AND reltuples < 0`;

/** Where an audit begins; see {@link startOfAudit}. */
export interface AuditStart {
  readonly isFull: boolean;
  readonly state: StateRow | undefined;
}

/**
 * Audits wait for each other here, before their snapshots: one that waits with a snapshot fails when the other ends. The lock
 * lets an audit of an older version write its checkpoints, which waits for no lock of this table.
 */
export const AUDIT_TURN = 'LOCK TABLE audit_checkpoint IN SHARE UPDATE EXCLUSIVE MODE';

/**
 * Waits until no other audit runs; each wait is an hour at most. After a full audit with findings, every audit reads all rows until
 * one finds nothing, so that a finding is reported until it is repaired.
 */
export async function startOfAudit(manager: EntityManager, scope: AuditScope): Promise<AuditStart> {
  await manager.query(SESSION_SETTINGS.patience);
  await manager.query(AUDIT_TURN);
  // Audits of an older version lock this row alone. If one ended in the meantime, this snapshot is too old to store its checkpoints.
  const [state] = await manager.query<StateRow[]>(
    `SELECT executions_from::text, holds_from::text FROM audit_state FOR UPDATE`,
  );
  for (const { name } of await manager.query<{ name: string }[]>(NEVER_ANALYZED)) {
    await manager.query(`ANALYZE ${name}`);
  }
  return { isFull: scope === 'full' || (state?.executions_from ?? NEVER) === NEVER, state };
}

/** Records in the transaction of an audit that it has findings. */
export async function recordFinding(manager: EntityManager, isFull: boolean): Promise<void> {
  const reset = isFull ? `, executions_from = '${NEVER}', holds_from = '${NEVER}'` : '';
  await manager.query(`UPDATE audit_state SET finished_at = now(), ok = false${reset}`);
}

/** The audit of the ledger in the caller's transaction. */
export async function auditLedgerIn(
  manager: EntityManager,
  { isFull, state }: AuditStart,
): Promise<AuditReport> {
  const from =
    isFull || state === undefined ? [NEVER, NEVER] : [state.executions_from, state.holds_from];
  await manager.query(CREATE_AUDITED);
  await manager.query(FILL_AUDITED, [isFull, ...from]);
  const [totals] = await manager.query<TotalsRow[]>(TOTALS);
  assert(totals !== undefined, 'the totals query returned no row');
  const rows = [
    ...(await manager.query<DiscrepancyRow[]>(ACCOUNT_RULES, [from[0]])),
    ...(await manager.query<DiscrepancyRow[]>(CHARGE_RULES, [isFull, ...from])),
    ...(isFull ? await manager.query<DiscrepancyRow[]>(MAKER_RULES) : []),
    ...(await manager.query<DiscrepancyRow[]>(LOT_RULES, [isFull])),
    ...(await manager.query<DiscrepancyRow[]>(RUN_RULES, [isFull, ...from])),
  ].slice(0, MAX_DISCREPANCIES);
  if (rows.length === 0) {
    await manager.query(KEEP_CHECKPOINTS);
    await manager.query(KEEP_STATE, from);
  } else {
    await recordFinding(manager, isFull);
  }
  return {
    ok: rows.length === 0,
    accounts: Number(totals.accounts),
    postedMicroUsd: BigInt(totals.posted),
    entriesMicroUsd: BigInt(totals.entries),
    heldMicroUsd: BigInt(totals.held),
    openHoldsMicroUsd: BigInt(totals.open_holds),
    discrepancies: rows.map((row) => ({
      accountId: row.account_id,
      rule: row.rule,
      detail: row.detail,
    })),
  };
}
