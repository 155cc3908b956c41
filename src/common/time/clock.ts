import { Injectable } from '@nestjs/common';

/** Source of the present time. Tests pass their own. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract nowMs(): number;

  /** The present time as a wire timestamp: whole seconds since the Unix epoch. */
  nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }
}

/**
 * The time of the machine, corrected to that of the database once {@link SystemClock.correct} was called with the
 * difference. So money, limits and expiry depend on one clock, even if the clocks of machines differ (decision G-112).
 */
@Injectable()
export class SystemClock extends Clock {
  private aheadMs = 0;

  nowMs(): number {
    return this.machineMs() - this.aheadMs;
  }

  /** The time of the machine, uncorrected. */
  machineMs(): number {
    return Date.now();
  }

  /** Corrects the clock: the machine is ahead of the database by `aheadMs`, with an error of at most `uncertainMs`. */
  correct(aheadMs: number, uncertainMs: number): void {
    if (Math.abs(aheadMs - this.aheadMs) > uncertainMs) this.aheadMs = Math.round(aheadMs);
  }
}

/** A Date as a wire timestamp: whole seconds since the Unix epoch. */
export function toEpochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

/** 9999-12-31, the last day that timestamps of the API can express. */
export const MAX_EPOCH_SECONDS = 253_402_300_799;
