import { randomUUID } from 'node:crypto';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LoneConnection } from '../../database/lone-connection.js';
import { whenDatabaseAnswers } from '../../database/start-patience.js';
import { CommittedWork } from './committed-work.js';

/** Beats per lease. A process may miss one and be late with the next. */
const BEATS_PER_LEASE = 3;
/**
 * A lease is longer than a pause of the process. With a sweep, the calls of a dead process are free within half a
 * minute.
 */
const SWEEPS_PER_LEASE = 3;
const MIN_LEASE_MS = 1_000;
/** A failed beat is repeated this many times sooner than the next is due. */
const RETRIES_PER_BEAT = 4;
/** A beat waits half an interval for its connection and its answer, but never less than this. */
const MIN_PATIENCE_MS = 1_000;

/** Injection token of the {@link LeaseOptions}. */
export const LEASE_OPTIONS = Symbol('LEASE_OPTIONS');

/** Length of a lease of this process, which is renewed three times as often, and the sweep interval, in milliseconds. */
export interface LeaseOptions {
  readonly leaseMs: number;
  readonly sweepMs: number;
}

/** The lease of a process with this sweep interval. */
export function leaseFor(holdSweepMs: number): LeaseOptions {
  return { leaseMs: Math.max(MIN_LEASE_MS, holdSweepMs * SWEEPS_PER_LEASE), sweepMs: holdSweepMs };
}

/** What a beat has found. */
export interface Heartbeat {
  /** The database's clock, in milliseconds since 1970, at some moment of the beat. */
  readonly databaseMs: number;
  /** How long the beat took, in milliseconds. */
  readonly tookMs: number;
}

const BEAT = `
  SELECT process_beat($1, $2, $3, $4), (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS database_ms`;

/**
 * This process as the owner of synchronous calls. While it beats, nobody else may release its calls. When its own lease
 * has ended, any process may (ADR 0002). The beats have their own timer and connection, so that a full pool
 * or a hanging connection does not cost a working process its lease.
 */
@Injectable()
export class ProcessLease implements OnModuleInit, BeforeApplicationShutdown {
  readonly id: string = randomUUID();
  /** What this process knows as committed. */
  readonly committed = new CommittedWork();
  readonly #logger = new Logger(ProcessLease.name);
  readonly #listeners: ((heartbeat: Heartbeat) => void)[] = [];
  /**
   * The begin of every call that may be open, oldest first, by the monotonic clock, because an age must never be too
   * small.
   */
  readonly #openSinceMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isOver = false;
  #lastBeatMs = -Infinity;
  #lastFailed = false;
  #underWay: Promise<void> | undefined;
  readonly #connection: LoneConnection;
  readonly #beatMs: number;

  constructor(
    dataSource: DataSource,
    @Inject(LEASE_OPTIONS) private readonly options: Pick<LeaseOptions, 'leaseMs'>,
  ) {
    this.#beatMs = options.leaseMs / BEATS_PER_LEASE;
    this.#connection = new LoneConnection(dataSource, Math.max(MIN_PATIENCE_MS, this.#beatMs / 2));
  }

  /** Number of calls that may hold money in the name of this process. */
  get openCalls(): number {
    return this.#openSinceMs.size;
  }

  /** Whether a call may hold money in the name of this process. */
  knows(executionId: string): boolean {
    return this.#openSinceMs.has(executionId);
  }

  /** Milliseconds since the last beat. */
  get silentMs(): number {
    return performance.now() - this.#lastBeatMs;
  }

  /** Whether the last try to beat failed. */
  get hasFailed(): boolean {
    return this.#lastFailed;
  }

  /** Calls `listener` after each beat. */
  onBeat(listener: (beat: Heartbeat) => void): void {
    this.#listeners.push(listener);
  }

  /** Notes a call before it may hold anything. */
  trackOpenCall(executionId: string): void {
    this.#openSinceMs.set(executionId, performance.now());
  }

  /** Removes a call that holds nothing any more. */
  untrackOpenCall(executionId: string): void {
    this.#openSinceMs.delete(executionId);
  }

  /** Takes the first lease before anything is served; waits for a database that is away. */
  async onModuleInit(): Promise<void> {
    await whenDatabaseAnswers(
      () => this.beat(),
      (error) => {
        this.#logger.warn(`the first lease waits for the database: ${String(error)}`);
      },
    );
    this.#schedule(this.#beatMs);
  }

  /**
   * Renews the lease; writes how many calls are open and the age of the oldest. Who asks while a beat is under way gets
   * that one.
   */
  beat(): Promise<void> {
    this.#underWay ??= this.#beatOnce().finally(() => (this.#underWay = undefined));
    return this.#underWay;
  }

  async #beatOnce(): Promise<void> {
    const { value: oldest } = this.#openSinceMs.values().next();
    const askedMs = performance.now();
    const ageMs = oldest === undefined ? 0 : Math.ceil(askedMs - oldest);
    try {
      const values = [this.id, this.options.leaseMs, this.openCalls, ageMs];
      const [row] = await this.#connection.query<{ database_ms: number }>(BEAT, values);
      this.#lastBeatMs = performance.now();
      this.#lastFailed = false;
      const beat = { databaseMs: row?.database_ms ?? NaN, tookMs: this.#lastBeatMs - askedMs };
      for (const listener of this.#listeners) listener(beat);
    } catch (error) {
      this.#lastFailed = true;
      throw error;
    }
  }

  /** Ends the lease, so that others release what this process still holds. If this fails, the lease ends by time. */
  async beforeApplicationShutdown(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#beating;
    try {
      await this.#connection.query(
        `UPDATE gateway_process SET lease_until = now(), open_calls = 0 WHERE id = $1`,
        [this.id],
      );
    } catch (error) {
      this.#logger.warn(`the lease was not ended: ${String(error)}`);
    }
    await this.#connection.close();
  }

  #schedule(waitMs: number): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#beating = this.#beatAgain();
    }, waitMs).unref();
  }

  async #beatAgain(): Promise<void> {
    try {
      await this.beat();
      this.#schedule(this.#beatMs);
    } catch (error) {
      this.#logger.error(`the lease was not renewed: ${String(error)}`);
      this.#schedule(this.#beatMs / RETRIES_PER_BEAT);
    }
  }
}
