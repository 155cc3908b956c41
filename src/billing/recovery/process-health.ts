import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { SystemClock } from '../../common/time/clock.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { Readiness } from '../../platform/observability/readiness.js';
import { type Heartbeat, ProcessLease } from './process-lease.js';

/** A health check renews a heartbeat older than this. If heartbeats fail, the process is unready this long after the last one. */
const HEARTBEAT_MAX_AGE_MS = 2_000;
/** Longest time that a health check waits for a heartbeat. */
const HEARTBEAT_TIMEOUT_MS = 400;
/** A clock that differs from the database's by more than this is logged. */
const WARNED_MS = 5_000;
/** With a clock that differs by more than this the process is not ready (decision G-112). */
const REFUSED_MS = 30_000;
/** A difference smaller than this, beyond the uncertainty of a heartbeat, is not corrected. */
const IGNORED_MS = 100;
/** Shortest time between two warnings about the clock. */
const WARN_EVERY_MS = 60_000;

/**
 * Tells whether this process is ready: its last heartbeat was written (a read-only, full or unreachable database does not
 * write it) and its machine's clock is near the database's. The process always uses the database's time.
 */
@Injectable()
export class ProcessHealth {
  private readonly logger = new Logger(ProcessHealth.name);
  private clockOffMs = 0;
  private warnedMs = -Infinity;

  constructor(
    private readonly process: ProcessLease,
    private readonly clock: SystemClock,
    readiness: Readiness,
    metrics: Metrics,
  ) {
    process.onHeartbeat((heartbeat) => {
      this.compare(heartbeat);
    });
    readiness.checkBy(() => this.isReady());
    metrics.watch(
      'gateway_clock_offset_seconds',
      "How far this process's clock is ahead of the database's",
      () => this.clockOffMs / 1000,
      'average',
    );
    metrics.watch(
      'gateway_heartbeat_age_seconds',
      'Time since the last heartbeat that the database took',
      () => process.silentMs / 1000,
      'max',
    );
  }

  /** Whether the process is ready. Resolves within half a second, whatever the database does. */
  async isReady(): Promise<boolean> {
    if (this.process.silentMs > HEARTBEAT_MAX_AGE_MS) {
      const renewal = this.process.heartbeat().catch(() => undefined);
      await Promise.race([renewal, sleep(HEARTBEAT_TIMEOUT_MS, undefined, { ref: false })]);
    }
    const isSilent = this.process.hasFailed && this.process.silentMs > HEARTBEAT_MAX_AGE_MS;
    return !isSilent && Math.abs(this.clockOffMs) <= REFUSED_MS;
  }

  private compare({ databaseMs, tookMs }: Heartbeat): void {
    const aheadMs = this.clock.machineMs() - tookMs / 2 - databaseMs;
    // The database read its clock at some moment of the heartbeat.
    this.clock.correct(aheadMs, tookMs / 2 + IGNORED_MS);
    this.clockOffMs = Math.sign(aheadMs) * Math.max(0, Math.abs(aheadMs) - tookMs / 2);
    const isWrong = Math.abs(this.clockOffMs) > WARNED_MS;
    if (!isWrong || performance.now() - this.warnedMs < WARN_EVERY_MS) return;
    this.warnedMs = performance.now();
    const seconds = (Math.abs(this.clockOffMs) / 1000).toFixed(1);
    const way = this.clockOffMs > 0 ? 'ahead of' : 'behind';
    this.logger.warn(
      `the clock of this machine is ${seconds} s ${way} the database's; above ${REFUSED_MS / 1000} s the process is not ready`,
    );
  }
}
