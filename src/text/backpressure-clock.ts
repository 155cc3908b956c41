/** A client that made the provider wait for this long in total may be the reason why the provider disconnects. */
const SLOW_MS = 1_000;
/** After this long without back-pressure the client has caught up; a later provider disconnect is not blamed on it. */
const CAUGHT_UP_MS = 3_000;

/**
 * Measures how long the client of a stream has made its provider wait since the client last caught up. Times are
 * monotonic milliseconds.
 */
export class BackpressureClock {
  private sinceMs: number | undefined;
  private untilMs = 0;
  private waitedMs = 0;

  begin(nowMs: number): void {
    if (this.hasCaughtUp(nowMs)) this.waitedMs = 0;
    this.sinceMs = nowMs;
  }

  end(nowMs: number): void {
    this.waitedMs += nowMs - (this.sinceMs ?? nowMs);
    this.untilMs = nowMs;
    this.sinceMs = undefined;
  }

  /**
   * Whether the client is the likely reason of a disconnect that is seen now. The disconnect is seen only after the
   * client has received the data that arrived before it.
   */
  isSlow(nowMs: number): boolean {
    if (this.sinceMs === undefined && this.hasCaughtUp(nowMs)) return false;
    return this.waitedMs + nowMs - (this.sinceMs ?? nowMs) >= SLOW_MS;
  }

  private hasCaughtUp(nowMs: number): boolean {
    return nowMs - this.untilMs >= CAUGHT_UP_MS;
  }
}
