import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { AuditReport, AuditScope } from './audit.js';
import { auditBooks } from './usage-audit.js';

/** How often a process checks whether an audit is due. */
const CHECK_INTERVAL_MS = 60_000;

const CLAIM = `
  UPDATE audit_state SET claimed_at = now() WHERE claimed_at < now() - interval '1 hour' RETURNING 1`;

/** Runs the audit of ledger and usage: on demand, and once an hour in one process of all. */
@Injectable()
export class LedgerAudit implements OnApplicationBootstrap {
  private readonly logger = new Logger(LedgerAudit.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({ name: 'audit', intervalMs: CHECK_INTERVAL_MS, tick: () => this.tick() });
  }

  /** Audits the rows since the last audit without findings, or all rows. */
  run(scope: AuditScope = 'new'): Promise<AuditReport> {
    return auditBooks(this.dataSource, scope);
  }

  /** Audits new rows if no process did so within the last hour. Returns whether it did. */
  async tick(): Promise<boolean> {
    const [, claimed] = await this.dataSource.query<[unknown, number]>(CLAIM);
    if (claimed === 0) return false;
    const { ok, discrepancies } = await this.run();
    if (!ok) this.logger.error({ discrepancies }, 'audit found discrepancies');
    return true;
  }
}
