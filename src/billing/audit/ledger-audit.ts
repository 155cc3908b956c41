import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { AuditReport, AuditScope } from './audit.js';
import { auditBooks } from './usage-audit.js';

/** How often a process checks whether an audit is due. */
const CHECK_INTERVAL_MS = 60_000;

const CLAIM = `
  UPDATE audit_state SET claimed_at = now() WHERE claimed_at < now() - interval '1 hour' RETURNING 1`;

/**
 * Runs one audit at a time. All who ask meanwhile share the next one, which begins when this one has ended, so that each gets
 * what was true after it asked.
 */
class SharedAudit {
  private running: Promise<AuditReport> | undefined;
  private next: Promise<AuditReport> | undefined;

  constructor(private readonly audit: () => Promise<AuditReport>) {}

  run(): Promise<AuditReport> {
    if (this.next !== undefined) return this.next;
    if (this.running === undefined) return this.begin();
    this.next = this.running.then(
      () => this.begin(),
      () => this.begin(),
    );
    return this.next;
  }

  private begin(): Promise<AuditReport> {
    this.next = undefined;
    this.running = this.audit().finally(() => {
      this.running = undefined;
    });
    return this.running;
  }
}

/** Runs the audit of ledger and usage: on demand, and once an hour in one process of all. */
@Injectable()
export class LedgerAudit implements OnApplicationBootstrap {
  private readonly logger = new Logger(LedgerAudit.name);
  /** Each audit has a connection of its own, beside the pool. */
  private readonly audits: Readonly<Record<AuditScope, SharedAudit>>;

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {
    const audit = (scope: AuditScope) => new SharedAudit(() => auditBooks(this.dataSource, scope));
    this.audits = { new: audit('new'), full: audit('full') };
  }

  onApplicationBootstrap(): void {
    this.scheduler.start({ name: 'audit', intervalMs: CHECK_INTERVAL_MS, tick: () => this.tick() });
  }

  /** Audits the rows since the last audit without findings, or all rows. Calls at the same time share audits. */
  run(scope: AuditScope = 'new'): Promise<AuditReport> {
    return this.audits[scope].run();
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
