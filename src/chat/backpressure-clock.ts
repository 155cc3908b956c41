/** A reader who keeps the provider waiting for this long, in all, may be the reason why it breaks off. */
const SLOW_MS = 1_000;
/** A reader who has taken all at once for this long has caught up: a provider that breaks off now does so for another reason. */
const CAUGHT_UP_MS = 3_000;

/** How long the reader of a stream has kept its provider waiting since it last caught up. Times are milliseconds that only grow. */
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

  /** The break of a provider may be seen only after the reader has taken what had arrived before it. */
  isSlow(nowMs: number): boolean {
    if (this.sinceMs === undefined && this.hasCaughtUp(nowMs)) return false;
    return this.waitedMs + nowMs - (this.sinceMs ?? nowMs) >= SLOW_MS;
  }

  private hasCaughtUp(nowMs: number): boolean {
    return nowMs - this.untilMs >= CAUGHT_UP_MS;
  }
}
