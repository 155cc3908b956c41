import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { ProcessLease } from '../recovery/process-lease.js';
import { Reversals } from '../recovery/reversals.js';

/** Most calls of dead processes that one statement releases. */
const SWEEP_BATCH = 1_000;

/** Injection token of the {@link HoldSweeperOptions}. */
export const HOLD_SWEEPER_OPTIONS = Symbol('HOLD_SWEEPER_OPTIONS');

/** How often to sweep, in milliseconds. */
export interface HoldSweeperOptions {
  readonly intervalMs: number;
}

interface SweepRow {
  /** Null while another process sweeps. */
  readonly swept: number | null;
  readonly damaged: string[];
  /** Whether calls remain to be checked. */
  readonly is_behind: boolean;
}

/**
 * Releases the calls of processes whose lease has ended and records them as failed in the same statement. Also makes the
 * reversals that such processes left in their journals (ADR 0002; decision G-22). One process sweeps at a time. A sweep
 * reads the open calls and those that began since the last sweep. A process that was only paused finds its holds released
 * and fails those calls.
 */
@Injectable()
export class HoldSweeper implements OnApplicationBootstrap {
  private readonly logger = new Logger(HoldSweeper.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly process: ProcessLease,
    private readonly reversals: Reversals,
    private readonly scheduler: Scheduler,
    @Inject(HOLD_SWEEPER_OPTIONS) private readonly options: HoldSweeperOptions,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'holds',
      intervalMs: this.options.intervalMs,
      tick: () => this.tick(),
    });
  }

  /** Releases every orphaned call that can be released now; returns their number. */
  async tick(): Promise<number> {
    await this.reversals.recoverFromDeadProcesses();
    const spared: string[] = [];
    let swept = 0;
    for (;;) {
      const [row] = await this.dataSource.query<SweepRow[]>(
        `SELECT * FROM execution_sweep_open($1, $2, $3)`,
        [this.process.id, spared, SWEEP_BATCH],
      );
      if (row === undefined || row.swept === null) break;
      swept += row.swept;
      for (const accountId of row.damaged) {
        this.logger.error(
          `the counters of account ${accountId} are damaged: its holds cannot be released`,
        );
      }
      spared.push(...row.damaged);
      if (row.swept + row.damaged.length === 0 && !row.is_behind) break;
    }
    if (swept > 0) this.logger.warn(`released the holds of ${swept} calls of ended processes`);
    return swept;
  }
}
