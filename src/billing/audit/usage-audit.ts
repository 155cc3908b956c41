import type { DataSource, EntityManager } from 'typeorm';
import { maintenanceConnectionOf } from '../../platform/database/data-source.js';
import { transaction } from '../../platform/database/transaction.js';
import {
  auditLedgerIn,
  recordFinding,
  startOfAudit,
  type AuditReport,
  type AuditScope,
  type Discrepancy,
} from './audit.js';
import { MAX_DISCREPANCIES } from './audit-statements.js';
import {
  COST_RULES,
  CREATE_CHARGED,
  DAY_RULE,
  FILL_CHARGED,
  FORGET_DAYS,
  HOUR_RULES,
  KEEP_DAYS,
  KEEP_POSITIONS,
  SUM_RULES,
} from './usage-audit-statements.js';

interface Finding {
  readonly account_id: string;
  readonly rule: string;
  readonly detail: string;
}

/**
 * Audits the ledger and compares usage with it: {@link auditLedgerIn} and {@link auditUsage} on one snapshot. The result is
 * visible to others when both have ended.
 */
export async function auditBooks(dataSource: DataSource, scope: AuditScope): Promise<AuditReport> {
  const maintenance = await maintenanceConnectionOf(dataSource).initialize();
  try {
    return await transaction(
      maintenance,
      (manager) => auditBooksIn(manager, scope),
      'REPEATABLE READ',
    );
  } finally {
    await maintenance.destroy();
  }
}

/** The same in the caller's transaction, which began as `REPEATABLE READ`. */
export async function auditBooksIn(
  manager: EntityManager,
  scope: AuditScope,
): Promise<AuditReport> {
  const start = await startOfAudit(manager, scope);
  const ledger = await auditLedgerIn(manager, start);
  const usage = await auditUsage(manager, start.isFull);
  return {
    ...ledger,
    ok: ledger.ok && usage.length === 0,
    discrepancies: [...ledger.discrepancies, ...usage].slice(0, MAX_DISCREPANCIES),
  };
}

/**
 * Differences between usage and the ledger in micro-USD, per account and day. Checks the days with entries since the last
 * audit without findings; a full audit checks every day, the sums, the costs and the hours. Usage that is not folded yet is read from the calls.
 */
async function auditUsage(manager: EntityManager, isFull: boolean): Promise<Discrepancy[]> {
  await manager.query(CREATE_CHARGED);
  await manager.query(FILL_CHARGED, [isFull]);
  const findings = [
    ...(await manager.query<Finding[]>(DAY_RULE, [isFull])),
    ...(isFull ? await manager.query<Finding[]>(SUM_RULES) : []),
    ...(isFull ? await manager.query<Finding[]>(COST_RULES) : []),
    ...(isFull ? await manager.query<Finding[]>(HOUR_RULES) : []),
  ];
  if (findings.length > 0) {
    await recordFinding(manager, isFull);
  } else {
    await manager.query(FORGET_DAYS, [isFull]);
    await manager.query(KEEP_DAYS);
    await manager.query(KEEP_POSITIONS);
  }
  return findings.map(({ account_id: accountId, rule, detail }) => ({ accountId, rule, detail }));
}
