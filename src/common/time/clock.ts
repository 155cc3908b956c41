/** Source of the present time; tests pass their own. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract nowMs(): number;

  /** The present as wire timestamps are written: whole seconds since the Unix epoch. */
  nowSeconds(): number {
    return Math.floor(this.nowMs() / 1000);
  }
}

/** The machine's clock. */
export class SystemClock extends Clock {
  nowMs(): number {
    return Date.now();
  }
}

/** A Date as wire timestamps are written: whole seconds since the Unix epoch. */
export function toEpochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
