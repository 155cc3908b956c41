import { randomUUID } from 'node:crypto';
import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LoneConnection } from '../database/lone-connection.js';

/** Beats per lease: a process may miss one and come late with the next. */
const BEATS_PER_LEASE = 3;
/** A lease outlasts a pause of the process, and with a sweep its calls are free again within half a minute. */
const SWEEPS_PER_LEASE = 3;
const MIN_LEASE_MS = 1_000;
/** A beat that failed is tried again this many times sooner than the next is due. */
const RETRIES_PER_BEAT = 4;
/** A beat waits half a beat for its connection and its answer, but never less than this. */
const MIN_PATIENCE_MS = 1_000;

/** Injection token of the {@link LeaseOptions}. */
export const LEASE_OPTIONS = Symbol('LEASE_OPTIONS');

/** How long a lease of this process lasts, in milliseconds; it is renewed three times as often. */
export interface LeaseOptions {
  readonly leaseMs: number;
}

/** The lease of a process that sweeps so often. */
export function leaseFor(holdSweepMs: number): LeaseOptions {
  return { leaseMs: Math.max(MIN_LEASE_MS, holdSweepMs * SWEEPS_PER_LEASE) };
}

/**
 * This process as the owner of synchronous calls. While it beats, its calls are its own; once the lease it wrote itself is
 * over anyone may release them (architecture: Money). The beats have a timer and a connection of their own: neither a full
 * pool nor a connection that hangs takes the lease from a process that works.
 */
@Injectable()
export class GatewayProcess implements OnModuleInit, BeforeApplicationShutdown {
  readonly id: string = randomUUID();
  readonly #logger = new Logger(GatewayProcess.name);
  /** Begin of every call that may be open, oldest first; by the monotonic clock, as ages must never be too small. */
  readonly #openSinceMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isOver = false;
  readonly #connection: LoneConnection;
  readonly #beatMs: number;

  constructor(
    dataSource: DataSource,
    @Inject(LEASE_OPTIONS) private readonly options: LeaseOptions,
  ) {
    this.#beatMs = options.leaseMs / BEATS_PER_LEASE;
    this.#connection = new LoneConnection(dataSource, Math.max(MIN_PATIENCE_MS, this.#beatMs / 2));
  }

  /** Calls that may hold money in the name of this process. */
  get openCalls(): number {
    return this.#openSinceMs.size;
  }

  /** Notes a call before it may hold anything. */
  opened(executionId: string): void {
    this.#openSinceMs.set(executionId, performance.now());
  }

  /** Forgets a call that holds nothing any more. */
  closed(executionId: string): void {
    this.#openSinceMs.delete(executionId);
  }

  /** Takes the first lease before anything is served. */
  async onModuleInit(): Promise<void> {
    await this.beat();
    this.#schedule(this.#beatMs);
  }

  /** Renews the lease, and says how many calls are open and how old the oldest is. */
  async beat(): Promise<void> {
    const { value: oldest } = this.#openSinceMs.values().next();
    const ageMs = oldest === undefined ? 0 : Math.ceil(performance.now() - oldest);
    await this.#connection.query(`SELECT process_beat($1, $2, $3, $4)`, [
      this.id,
      this.options.leaseMs,
      this.openCalls,
      ageMs,
    ]);
  }

  /** Ends the lease, so that what this process still holds is released by others; where that fails it ends by itself. */
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
