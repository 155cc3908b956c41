import { randomUUID } from 'node:crypto';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_VERSION } from '../../common/version.js';
import { DedicatedConnection } from '../../platform/database/dedicated-connection.js';
import { waitForDatabase } from '../../platform/database/wait-for-database.js';
import { CommittedWork } from './committed-work.js';

/** Heartbeats per lease. A process may miss one and be late with the next. */
const HEARTBEATS_PER_LEASE = 3;
/**
 * Sweep intervals per lease. A lease outlasts a pause of the process; with a sweep, the calls of a dead process are
 * released within half a minute.
 */
const SWEEPS_PER_LEASE = 3;
const MIN_LEASE_MS = 1_000;
/** A failed heartbeat is retried after this fraction of the interval. */
const RETRIES_PER_HEARTBEAT = 4;
/** A heartbeat times out after half an interval, but never earlier than this. */
const MIN_TIMEOUT_MS = 1_000;

/** Injection token of the {@link LeaseOptions}. */
export const LEASE_OPTIONS = Symbol('LEASE_OPTIONS');

/** Length of this process's lease and the sweep interval, in milliseconds. A lease is renewed three times in its length. */
export interface LeaseOptions {
  readonly leaseMs: number;
  readonly sweepMs: number;
}

/** Lease options for this sweep interval. */
export function leaseFor(holdSweepMs: number): LeaseOptions {
  return { leaseMs: Math.max(MIN_LEASE_MS, holdSweepMs * SWEEPS_PER_LEASE), sweepMs: holdSweepMs };
}

/** The result of a heartbeat. */
export interface Heartbeat {
  /** The database's time at some moment of the heartbeat, in milliseconds since 1970. */
  readonly databaseMs: number;
  /** Duration of the heartbeat, in milliseconds. */
  readonly tookMs: number;
}

const HEARTBEAT = `
  SELECT process_beat_v2($1, $2, $3, $4, $5), (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS database_ms`;

/**
 * This process's lease on its synchronous calls. While heartbeats renew it, no other process may release its calls. When
 * the lease has ended, any process may (ADR 0002). Heartbeats have their own timer and connection, so that a full pool or a
 * hanging connection does not cost a working process its lease.
 */
@Injectable()
export class ProcessLease implements OnModuleInit, BeforeApplicationShutdown {
  readonly id: string = randomUUID();
  /** Calls and tasks that the database confirmed to this process. */
  readonly committed = new CommittedWork();
  private readonly logger = new Logger(ProcessLease.name);
  private readonly listeners: ((heartbeat: Heartbeat) => void)[] = [];
  /**
   * Start time of every call that may be open, oldest first, by the monotonic clock, so that a step of the system clock
   * cannot make an age too small.
   */
  private readonly openSinceMs = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private isOver = false;
  private lastHeartbeatMs = -Infinity;
  private lastFailed = false;
  private current: Promise<void> | undefined;
  private readonly connection: DedicatedConnection;
  private readonly intervalMs: number;

  constructor(
    dataSource: DataSource,
    @Inject(LEASE_OPTIONS) private readonly options: Pick<LeaseOptions, 'leaseMs'>,
  ) {
    this.intervalMs = options.leaseMs / HEARTBEATS_PER_LEASE;
    this.connection = new DedicatedConnection(
      dataSource,
      Math.max(MIN_TIMEOUT_MS, this.intervalMs / 2),
    );
  }

  /** Number of calls of this process that may hold money. */
  get openCalls(): number {
    return this.openSinceMs.size;
  }

  /** Whether this call of this process may hold money. */
  knows(executionId: string): boolean {
    return this.openSinceMs.has(executionId);
  }

  /** Milliseconds since the last successful heartbeat. */
  get silentMs(): number {
    return performance.now() - this.lastHeartbeatMs;
  }

  /** Whether the last heartbeat failed. */
  get hasFailed(): boolean {
    return this.lastFailed;
  }

  /** Calls `listener` after each successful heartbeat. */
  onHeartbeat(listener: (heartbeat: Heartbeat) => void): void {
    this.listeners.push(listener);
  }

  /** Adds a call to the open ones, before it may hold money. */
  trackOpenCall(executionId: string): void {
    this.openSinceMs.set(executionId, performance.now());
  }

  /** Removes a call that no longer holds money. */
  untrackOpenCall(executionId: string): void {
    this.openSinceMs.delete(executionId);
  }

  /** Takes the first lease before anything is served. Waits until the database can be reached. */
  async onModuleInit(): Promise<void> {
    await waitForDatabase(
      () => this.heartbeat(),
      (error) => {
        this.logger.warn(`the first lease waits for the database: ${String(error)}`);
      },
    );
    this.schedule(this.intervalMs);
  }

  /**
   * Renews the lease and writes the number of open calls and the age of the oldest. A concurrent call gets the promise of
   * the running heartbeat.
   */
  heartbeat(): Promise<void> {
    this.current ??= this.heartbeatOnce().finally(() => (this.current = undefined));
    return this.current;
  }

  private async heartbeatOnce(): Promise<void> {
    const { value: oldest } = this.openSinceMs.values().next();
    const startedMs = performance.now();
    const ageMs = oldest === undefined ? 0 : Math.ceil(startedMs - oldest);
    try {
      const values = [this.id, this.options.leaseMs, this.openCalls, ageMs, GATEWAY_VERSION];
      const [row] = await this.connection.query<{ database_ms: number }>(HEARTBEAT, values);
      this.lastHeartbeatMs = performance.now();
      this.lastFailed = false;
      const heartbeat = {
        databaseMs: row?.database_ms ?? NaN,
        tookMs: this.lastHeartbeatMs - startedMs,
      };
      for (const listener of this.listeners) listener(heartbeat);
    } catch (error) {
      this.lastFailed = true;
      throw error;
    }
  }

  /** Ends the lease, so that other processes release the remaining holds. If this fails, the lease expires by itself. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isOver = true;
    clearTimeout(this.timer);
    await this.running;
    try {
      await this.connection.query(
        `UPDATE gateway_process SET lease_until = now(), open_calls = 0 WHERE id = $1`,
        [this.id],
      );
    } catch (error) {
      this.logger.warn(`the lease was not ended: ${String(error)}`);
    }
    await this.connection.close();
  }

  private schedule(waitMs: number): void {
    if (this.isOver) return;
    this.timer = setTimeout(() => {
      this.running = this.heartbeatAndSchedule();
    }, waitMs).unref();
  }

  private async heartbeatAndSchedule(): Promise<void> {
    try {
      await this.heartbeat();
      this.schedule(this.intervalMs);
    } catch (error) {
      this.logger.error(`the lease was not renewed: ${String(error)}`);
      this.schedule(this.intervalMs / RETRIES_PER_HEARTBEAT);
    }
  }
}
