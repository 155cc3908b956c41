import assert from 'node:assert/strict';
import type { DataSource, EntityManager } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { patientCopyOf } from '../../database/patient-copy.js';
import { SESSION_SETTINGS } from '../../database/session-settings.js';
import { transaction } from '../../database/transaction.js';
import {
  ACCOUNT_RULES,
  CHARGE_RULES,
  CREATE_AUDITED,
  FILL_AUDITED,
  KEEP_CHECKPOINTS,
  KEEP_STATE,
  MAX_DISCREPANCIES,
  TOTALS,
} from './audit-statements.js';

/** One broken rule, in words, and the account. */
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

/** `full` reads everything, `new` what came after the last audit without findings. */
export type AuditScope = 'full' | 'new';

/** From where an audit reads everything. */
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
 * Proves the books on one consistent snapshot: sums, chains, one outcome per hold, executions against entries, charges
 * against their quantities (docs/operations.md, "Audit and alerts"). After an audit without findings the next one begins where it ended.
 */
export async function auditLedger(
  dataSource: DataSource,
  scope: AuditScope = 'full',
): Promise<AuditReport> {
  // The connections of normal work end a statement after seconds.
  const patient = await patientCopyOf(dataSource).initialize();
  try {
    return await transaction(
      patient,
      async (manager) => auditLedgerIn(manager, await startOfAudit(manager, scope)),
      'REPEATABLE READ',
    );
  } finally {
    await patient.destroy();
  }
}

/** Where an audit begins; see {@link startOfAudit}. */
export interface AuditStart {
  readonly isFull: boolean;
  readonly state: StateRow | undefined;
}

/**
 * Waits for other audits. After a full audit that found something every audit reads everything until one finds nothing: what
 * was found is not forgotten.
 */
export async function startOfAudit(manager: EntityManager, scope: AuditScope): Promise<AuditStart> {
  await manager.query(SESSION_SETTINGS.patience);
  // This row is the lock. If another audit ended in the meantime, this one's snapshot is too old to keep its checkpoints.
  const [state] = await manager.query<StateRow[]>(
    `SELECT executions_from::text, holds_from::text FROM audit_state FOR UPDATE`,
  );
  return { isFull: scope === 'full' || (state?.executions_from ?? NEVER) === NEVER, state };
}

/** Notes in the transaction of an audit that it found something. */
export async function keepFinding(manager: EntityManager, isFull: boolean): Promise<void> {
  const goesBack = isFull ? `, executions_from = '${NEVER}', holds_from = '${NEVER}'` : '';
  await manager.query(`UPDATE audit_state SET finished_at = now(), ok = false${goesBack}`);
}

/** The audit of the ledger in a transaction of its caller. */
export async function auditLedgerIn(
  manager: EntityManager,
  { isFull, state }: AuditStart,
): Promise<AuditReport> {
  const from =
    isFull || state === undefined ? [NEVER, NEVER] : [state.executions_from, state.holds_from];
  await manager.query(CREATE_AUDITED);
  await manager.query(FILL_AUDITED, [isFull, ...from]);
  const [totals] = await manager.query<TotalsRow[]>(TOTALS);
  assert(totals !== undefined, 'an aggregate answers one row');
  const rows = [
    ...(await manager.query<DiscrepancyRow[]>(ACCOUNT_RULES, [from[0]])),
    ...(await manager.query<DiscrepancyRow[]>(CHARGE_RULES, [isFull, ...from])),
  ].slice(0, MAX_DISCREPANCIES);
  if (rows.length === 0) {
    await manager.query(KEEP_CHECKPOINTS);
    await manager.query(KEEP_STATE, from);
  } else {
    await keepFinding(manager, isFull);
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
