import type { IncomingMessage } from 'node:http';
import { type RequestPriority, requestPriorityOf } from './request-priority.js';

/** As long as a crowd is younger than this, all of it is served. */
const LASTING_MS = 1_000;
/**
 * After a crowd that lasted, a part of the places is closed for this long, so that what is accepted waits less: a quarter
 * halves the times of accepted calls and serves no fewer (docs/notes/benchmarks.md). Then all are open again, which shows whether
 * the crowd is over.
 */
const CLOSED_MS = 3_000;
/** One place in this many stays open. */
const OPEN_ONE_IN = 4;
/** The crowd is over when the open places were not full for this long. */
const CALM_MS = 2_000;
/** Reads cost less, and clients poll (decision G-14). */
const READ_FACTOR = 10;

/** Calls that wait for their hold, without those of locked accounts, which wait for somebody else. */
export interface WaitingHolds {
  readonly readyStarts: number;
  readonly readyAccounts: number;
  readyStartsOf(accountId: string): number;
}

/** What an {@link LoadShedder} needs of the gateway. */
export interface OverloadOptions {
  /** How many calls may wait before a crowd begins; ten times as many reads. */
  readonly maxWaiting: number;
  /** Whose request it is. Holders share the room equally. */
  readonly holderOf: (request: IncomingMessage) => string;
  readonly holds: WaitingHolds;
  /** Milliseconds; only ever grows. */
  readonly nowMs: () => number;
}

/**
 * Refuses requests of callers while more of them arrive than this process can serve, so that what it accepts is served
 * soon (decision G-100). A request counts while it waits for the gateway itself: to begin, or for its hold; waiting for a
 * provider does not count. Calls and reads are counted apart. A caller who has less than an equal share of the waiting
 * requests is served. Health checks and the operator are never refused.
 */
export class LoadShedder {
  private readonly crowds: Readonly<Partial<Record<RequestPriority, Crowd>>>;

  constructor(private readonly options: OverloadOptions) {
    const { maxWaiting, nowMs, holds } = options;
    this.crowds = {
      calls: new Crowd(maxWaiting, nowMs, holds),
      reads: new Crowd(maxWaiting * READ_FACTOR, nowMs),
    };
  }

  /** Whether the request must be refused now. */
  refuses(request: IncomingMessage): boolean {
    const crowd = this.crowds[requestPriorityOf(request)];
    return crowd?.isTooLarge() === true && crowd.hasShare(this.options.holderOf(request));
  }

  /** `begin`, counted as waiting until it is called. */
  counted(request: IncomingMessage, begin: () => void): () => void {
    const crowd = this.crowds[requestPriorityOf(request)];
    if (!crowd) return begin;
    const holder = this.options.holderOf(request);
    crowd.enter(holder);
    return () => {
      crowd.leave(holder);
      begin();
    };
  }
}

const NO_HOLDS: WaitingHolds = { readyStarts: 0, readyAccounts: 0, readyStartsOf: () => 0 };

/** The waiting requests of one lane, by holder. While there are as many as may wait, they are a crowd. */
class Crowd {
  private waiting = 0;
  private readonly byHolder = new Map<string, number>();
  /** When the present crowd began; undefined while there is none. */
  private sinceMs: number | undefined;
  /** When a crowd that had lasted was last seen while all places were open. */
  private lastedMs = -Infinity;

  constructor(
    private readonly maxWaiting: number,
    private readonly nowMs: () => number,
    private readonly holds: WaitingHolds = NO_HOLDS,
  ) {}

  enter(holder: string): void {
    this.waiting += 1;
    this.byHolder.set(holder, (this.byHolder.get(holder) ?? 0) + 1);
  }

  leave(holder: string): void {
    this.waiting -= 1;
    const left = (this.byHolder.get(holder) ?? 0) - 1;
    if (left > 0) this.byHolder.set(holder, left);
    else this.byHolder.delete(holder);
  }

  /** Whether there is a crowd that has lasted, or one soon after it. */
  isTooLarge(): boolean {
    const { waiting, maxWaiting, holds } = this;
    const now = this.nowMs();
    if (this.isPartClosed(now))
      return waiting >= this.openPlaces || holds.readyStarts >= maxWaiting;
    if (waiting + holds.readyStarts < maxWaiting) {
      this.sinceMs = undefined;
      return false;
    }
    this.sinceMs ??= now;
    const isNew = now - this.lastedMs >= CLOSED_MS + CALM_MS;
    if (isNew && now - this.sinceMs < LASTING_MS) return false;
    this.lastedMs = now;
    return true;
  }

  /**
   * Whether the holder has its equal share of the waiting. Nobody has less when there are more holders than places for
   * all of them. Calls that wait for their hold use no open place while a part is closed, so that they are compared with
   * all places, as {@link isTooLarge} compares them.
   */
  hasShare(holder: string): boolean {
    const { byHolder, holds, maxWaiting } = this;
    const waiting = byHolder.get(holder) ?? 0;
    const ready = holds.readyStartsOf(holder);
    // At least so many, with this one.
    const holders = Math.max(
      byHolder.size + (waiting > 0 ? 0 : 1),
      holds.readyAccounts + (ready > 0 ? 0 : 1),
    );
    const shareOf = (places: number): number =>
      Math.max(Math.floor(places / holders), holders <= maxWaiting ? 1 : 0);
    return this.isPartClosed(this.nowMs())
      ? waiting >= shareOf(this.openPlaces) || ready >= shareOf(maxWaiting)
      : waiting + ready >= shareOf(maxWaiting);
  }

  private isPartClosed(now: number): boolean {
    return now - this.lastedMs < CLOSED_MS;
  }

  /** How many places are open while a part is closed. */
  private get openPlaces(): number {
    return Math.ceil(this.maxWaiting / OPEN_ONE_IN);
  }
}
