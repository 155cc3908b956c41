import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Scheduler } from '../../platform/scheduler/scheduler.js';

const INTERVAL_MS = 1_000;
/** How long an account is looked at by no other process; then what is still held is looked at again. */
const LOOK_MS = 2_000;
const MAX_CREDITS_PER_CLAIM = 100;
/** Most claims of a tick, so that the next tick of the job is not far. */
const MAX_CLAIMS = 10;

/**
 * Expires what is left of credits whose time is over, within 5 s. What a running call or open task may still spend stays until it
 * ends, and expires within 5 s of that. Each account is a transaction of its own, so an account that is locked for long, or whose
 * counters are damaged, holds up no other.
 */
@Injectable()
export class CreditExpiry implements OnApplicationBootstrap {
  private readonly logger = new Logger(CreditExpiry.name);

  constructor(
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
  ) {}

  onApplicationBootstrap(): void {
    this.scheduler.start({
      name: 'credit-expiry',
      intervalMs: INTERVAL_MS,
      tick: (stopping) => this.tick(stopping),
    });
  }

  /** Expires what is due; returns how many entries were written. */
  async tick(stopping?: AbortSignal): Promise<number> {
    let written = 0;
    for (let claims = 0; claims < MAX_CLAIMS && stopping?.aborted !== true; claims += 1) {
      const due = await this.dataSource.query<{ account_id: string }[]>(
        'SELECT lots_claim($1, $2) AS account_id',
        [MAX_CREDITS_PER_CLAIM, LOOK_MS],
      );
      if (due.length === 0) break;
      for (const { account_id: accountId } of due) written += await this.expire(accountId);
    }
    return written;
  }

  private async expire(accountId: string): Promise<number> {
    try {
      const [row] = await this.dataSource.query<{ written: number }[]>(
        'SELECT lots_expire($1) AS written',
        [accountId],
      );
      return row?.written ?? 0;
    } catch (error) {
      this.logger.error(`the credits of account ${accountId} do not expire: ${String(error)}`);
      return 0;
    }
  }
}
