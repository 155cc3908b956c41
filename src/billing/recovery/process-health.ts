import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger } from '@nestjs/common';
import { SystemClock } from '../../common/time/clock.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { Readiness } from '../../platform/observability/readiness.js';
import { type Heartbeat, ProcessLease } from './process-lease.js';

/** After a failed beat the process is ready for this long after the last good one; one older than this is repeated when asked. */
const BEAT_AGE_MS = 2_000;
/** Who asks waits so long for a beat. */
const PATIENCE_MS = 400;
/** A clock that differs from the database's by more than this is told of. */
const WARNED_MS = 5_000;
/** With a clock that differs by more than this the process is not ready (decision G-112). */
const REFUSED_MS = 30_000;
/** A difference smaller than this, beyond what a beat leaves uncertain, is not corrected. */
const IGNORED_MS = 100;
/** How often a wrong clock is told of. */
const WARN_EVERY_MS = 60_000;

/**
 * Whether this process can work: its last beat was written, which a database that is read-only, full or silent does not
 * do, and its machine's clock is near the database's. Whatever it differs by, the process goes by the database's.
 */
@Injectable()
export class ProcessHealth {
  readonly #logger = new Logger(ProcessHealth.name);
  #clockOffMs = 0;
  #warnedMs = -Infinity;

  constructor(
    private readonly process: ProcessLease,
    private readonly clock: SystemClock,
    readiness: Readiness,
    metrics: Metrics,
  ) {
    process.onBeat((beat) => {
      this.#compare(beat);
    });
    readiness.checkBy(() => this.isWell());
    metrics.watch(
      'gateway_clock_offset_seconds',
      "How far this process's clock is ahead of the database's",
      () => this.#clockOffMs / 1000,
    );
  }

  /** Answers within half a second, whatever the database does. */
  async isWell(): Promise<boolean> {
    if (this.process.silentMs > BEAT_AGE_MS) {
      const beaten = this.process.beat().catch(() => undefined);
      await Promise.race([beaten, sleep(PATIENCE_MS, undefined, { ref: false })]);
    }
    const isSilent = this.process.hasFailed && this.process.silentMs > BEAT_AGE_MS;
    return !isSilent && Math.abs(this.#clockOffMs) <= REFUSED_MS;
  }

  #compare({ databaseMs, tookMs }: Heartbeat): void {
    const aheadMs = this.clock.machineMs() - tookMs / 2 - databaseMs;
    // The database read its clock at some moment of the beat.
    this.clock.correct(aheadMs, tookMs / 2 + IGNORED_MS);
    this.#clockOffMs = Math.sign(aheadMs) * Math.max(0, Math.abs(aheadMs) - tookMs / 2);
    const isWrong = Math.abs(this.#clockOffMs) > WARNED_MS;
    if (!isWrong || performance.now() - this.#warnedMs < WARN_EVERY_MS) return;
    this.#warnedMs = performance.now();
    const seconds = (Math.abs(this.#clockOffMs) / 1000).toFixed(1);
    const way = this.#clockOffMs > 0 ? 'ahead of' : 'behind';
    this.#logger.warn(
      `the clock of this machine is ${seconds} s ${way} the database's; above ${REFUSED_MS / 1000} s the process is not ready`,
    );
  }
}
