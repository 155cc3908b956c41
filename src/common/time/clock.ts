/** Source of the present time. Tests pass their own. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract nowMs(): number;

  /** The present time as a wire timestamp: whole seconds since the Unix epoch. */
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

/** A Date as a wire timestamp: whole seconds since the Unix epoch. */
export function toEpochSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}
