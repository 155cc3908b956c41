import { Injectable } from '@nestjs/common';
import { persistently } from './persistently.js';
import { type Advance, TaskStatements } from './task-statements.js';

/** Most reports in one statement. */
const MAX_BATCH = 500;
/** A report that is lost may cost a task its outcome, so a database that is away is waited for. */
export const REPORT_PATIENCE_MS = 600_000;

interface Waiting {
  readonly change: Advance;
  readonly resolve: (applied: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Carries what steps report to the database: one statement at a time, with everything that was reported meanwhile. No timer:
 * a report that finds the lane idle leaves at once.
 */
@Injectable()
export class TaskReports {
  private waiting: Waiting[] = [];
  private isSending = false;

  constructor(private readonly statements: TaskStatements) {}

  /** Whether the change was applied: false where the fence no longer held. Throws what the database says for good. */
  advance(change: Advance): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ change, resolve, reject });
      if (!this.isSending) void this.send();
    });
  }

  private async send(): Promise<void> {
    this.isSending = true;
    while (this.waiting.length > 0) await this.sendBatch(this.waiting.splice(0, MAX_BATCH));
    this.isSending = false;
  }

  private async sendBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const changes = batch.map(({ change }) => change);
      const applied = await persistently(
        () => this.statements.advance(changes),
        REPORT_PATIENCE_MS,
      );
      for (const { change, resolve } of batch) resolve(applied.has(change.taskId));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
