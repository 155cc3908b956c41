import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import type { AuditReport, AuditScope } from './audit.js';
import { auditBooks } from './usage-audit.js';

/** How often a process checks whether an audit is due. */
const ASK_MS = 60_000;

const CLAIM = `
  UPDATE audit_state SET claimed_at = now() WHERE claimed_at < now() - interval '1 hour' RETURNING 1`;

/** Runs the audit of the books: on demand, and once an hour in one of all processes. */
@Injectable()
export class LedgerAudit implements OnApplicationBootstrap {
  readonly #logger = new Logger(LedgerAudit.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({ name: 'audit', intervalMs: ASK_MS, tick: () => this.tick() });
  }

  /** Proves what is new since the last audit that found nothing, or everything. */
  run(scope: AuditScope = 'new'): Promise<AuditReport> {
    return auditBooks(this.dataSource, scope);
  }

  /** Audits what is new if no process has done so within the last hour; returns whether it did. */
  async tick(): Promise<boolean> {
    const [, claimed] = await this.dataSource.query<[unknown, number]>(CLAIM);
    if (claimed === 0) return false;
    const { ok, discrepancies } = await this.run();
    if (!ok) this.#logger.error({ discrepancies }, 'the books are not right');
    return true;
  }
}
