import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayProcess, LEASE_INTERVALS } from './gateway-process.js';
import { ExecutionStatements, type ExecutionStep } from './execution-statements.js';

/** Error code on the record of a call whose process died. */
export const PROCESS_LOST = 'process_lost';
/** Most holds released by one tick. */
const SWEEP_BATCH = 500;

/** Injection token of the {@link HoldSweeperOptions}. */
export const HOLD_SWEEPER_OPTIONS = Symbol('HOLD_SWEEPER_OPTIONS');

/** How often to sweep, in milliseconds; a process is dead after three intervals without a heartbeat. */
export interface HoldSweeperOptions {
  readonly intervalMs: number;
}

// A hold younger than a lease is left alone: its process may be about to beat.
const ORPHANS = `
  SELECT account_id, id FROM hold
   WHERE state = 'open' AND process_id IS NOT NULL
     AND (expires_at < now()
          OR (created_at < now() - $1 * interval '1 millisecond'
              AND NOT EXISTS (SELECT 1 FROM gateway_process p WHERE p.id = hold.process_id)))
   ORDER BY created_at LIMIT ${SWEEP_BATCH}`;

interface Orphan {
  readonly account_id: string;
  readonly id: string;
}

/**
 * Releases the holds of synchronous calls whose process died or whose time is over, and records the calls as failed in the
 * same statement (architecture: Money; decision G-22). Several sweepers do no harm: a hold is resolved once. A process that
 * was only paused finds its holds released and fails those calls.
 */
@Injectable()
export class HoldSweeper implements OnModuleInit, BeforeApplicationShutdown {
  readonly #logger = new Logger(HoldSweeper.name);
  readonly #statements: ExecutionStatements;
  readonly #leaseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly dataSource: DataSource,
    private readonly process: GatewayProcess,
    @Inject(HOLD_SWEEPER_OPTIONS) private readonly options: HoldSweeperOptions,
  ) {
    this.#statements = new ExecutionStatements(dataSource);
    this.#leaseMs = options.intervalMs * LEASE_INTERVALS;
  }

  /** Registers this process before it serves anything, then sweeps at every interval. */
  async onModuleInit(): Promise<void> {
    await this.process.heartbeat(this.#leaseMs);
    this.#schedule();
  }

  /** Ends the lease of this process; the calls in flight have been drained by then. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
    await this.process.deregister();
  }

  /** Renews this process's lease, then releases at most 500 orphaned holds; returns how many it found. */
  async tick(): Promise<number> {
    await this.process.heartbeat(this.#leaseMs);
    const orphans = await this.dataSource.query<Orphan[]>(ORPHANS, [this.#leaseMs]);
    const byAccount = new Map<string, ExecutionStep[]>();
    for (const orphan of orphans) {
      const steps = byAccount.get(orphan.account_id);
      if (steps === undefined) byAccount.set(orphan.account_id, [release(orphan)]);
      else steps.push(release(orphan));
    }
    for (const [accountId, steps] of byAccount) {
      await this.#statements.commit(accountId, this.process.id, steps);
    }
    return orphans.length;
  }

  #schedule(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#sweep().finally(() => {
        this.#schedule();
      });
    }, this.options.intervalMs).unref();
  }

  async #sweep(): Promise<void> {
    try {
      const found = await this.tick();
      if (found > 0) this.#logger.warn(`${found} orphaned holds released`);
    } catch (error) {
      this.#logger.error(`sweeping holds failed: ${String(error)}`);
    }
  }
}

function release(orphan: Orphan): ExecutionStep {
  return {
    kind: 'finish',
    end: {
      executionId: orphan.id,
      accountId: orphan.account_id,
      chargedMicroUsd: null,
      errorCode: PROCESS_LOST,
      provider: null,
      providerRequestId: null,
    },
  };
}
