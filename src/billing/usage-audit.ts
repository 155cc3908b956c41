import type { DataSource, EntityManager } from 'typeorm';
import { patientCopyOf } from '../database/patient-copy.js';
import { transaction } from '../database/transaction.js';
import { auditLedger, type AuditReport, type AuditScope, type Discrepancy } from './audit.js';
import { MAX_DISCREPANCIES } from './audit-statements.js';
import {
  CREATE_CHARGED,
  DAY_RULE,
  FILL_CHARGED,
  FORGET_DAYS,
  KEEP_DAYS,
  KEEP_POSITIONS,
  SUM_RULES,
} from './usage-audit-statements.js';

interface Finding {
  readonly account_id: string;
  readonly rule: string;
  readonly detail: string;
}

/** Proves the books, and that usage is what the ledger says: {@link auditLedger} and {@link auditUsage} together. */
export async function auditBooks(dataSource: DataSource, scope: AuditScope): Promise<AuditReport> {
  const ledger = await auditLedger(dataSource, scope);
  const usage = await auditUsage(dataSource, scope);
  return {
    ...ledger,
    ok: ledger.ok && usage.length === 0,
    discrepancies: [...ledger.discrepancies, ...usage].slice(0, MAX_DISCREPANCIES),
  };
}

/**
 * Differences between usage and the ledger, to the micro-USD, per account and day. `new` compares the days with new entries
 * since the last audit without a finding. `full` compares every day, and the sums with each other. What is not summed up
 * yet is read from the calls.
 */
export async function auditUsage(
  dataSource: DataSource,
  scope: AuditScope,
): Promise<readonly Discrepancy[]> {
  const patient = await patientCopyOf(dataSource).initialize();
  try {
    return await transaction(patient, (manager) => auditIn(manager, scope), 'REPEATABLE READ');
  } finally {
    await patient.destroy();
  }
}

async function auditIn(manager: EntityManager, scope: AuditScope): Promise<Discrepancy[]> {
  // One audit at a time, as of the ledger.
  await manager.query('SELECT FROM audit_state FOR UPDATE');
  const isFull = scope === 'full';
  await manager.query(CREATE_CHARGED);
  await manager.query(FILL_CHARGED, [isFull]);
  const findings = [
    ...(await manager.query<Finding[]>(DAY_RULE, [isFull])),
    ...(isFull ? await manager.query<Finding[]>(SUM_RULES) : []),
  ];
  if (findings.length > 0) {
    await manager.query(`UPDATE audit_state SET ok = false`);
  } else {
    await manager.query(FORGET_DAYS, [isFull]);
    await manager.query(KEEP_DAYS);
    await manager.query(KEEP_POSITIONS);
  }
  return findings.map(({ account_id: accountId, rule, detail }) => ({ accountId, rule, detail }));
}
