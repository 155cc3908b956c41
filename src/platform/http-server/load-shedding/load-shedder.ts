import type { IncomingMessage } from 'node:http';
import { BucketCounts } from '../../fairness/bucket-counts.js';

/** `calls` order work, `reads` read; `others` are health checks, the operator and preflights. */
export type RequestPriority = 'calls' | 'reads' | 'others';

const NOT_CALLERS = /^\/(?:health|admin|metrics|console\/(?:session|oidc|api\/admin))(?:[/?]|$)/;

/**
 * The priority of a request by its method, except for preflights and for paths that only operators and health checks
 * use.
 */
export function requestPriorityOf({ method, url = '' }: IncomingMessage): RequestPriority {
  if (method === 'OPTIONS' || NOT_CALLERS.test(url)) return 'others';
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'calls';
}

/** Overload that lasts less than this is ignored: everything is served. */
const LASTING_MS = 1_000;
/**
 * After lasting overload, this long only a quarter of the capacity is open, so that accepted requests wait less: a
 * quarter halves the times of accepted calls and serves no fewer (docs/notes/benchmarks.md). Then the full capacity is
 * open again, which shows whether the overload is over.
 */
const CLOSED_MS = 3_000;
/** One in this many stays open. */
const OPEN_ONE_IN = 4;
/** The overload is over when the open capacity was not full for this long. */
const CALM_MS = 2_000;
/** Reads cost less than calls, and clients poll (decision G-14). */
const READ_FACTOR = 10;

/** Calls that wait for their hold, except those whose account is locked by another process. */
export interface WaitingHolds {
  readonly readyCalls: number;
  readonly readyGroups: number;
  readyCallsOf(accountId: string): number;
}

/** What a {@link LoadShedder} needs from the gateway. */
export interface OverloadOptions {
  /** How many calls may wait before there is overload; ten times as many reads. */
  readonly maxWaiting: number;
  /** The fairness bucket of a request. Buckets share the capacity equally. */
  readonly bucketOf: (request: IncomingMessage) => string;
  readonly holds: WaitingHolds;
  /** Monotonic time in milliseconds. */
  readonly nowMs: () => number;
}

/**
 * Refuses requests of callers while more of them arrive than this process can serve, so that accepted ones are served
 * soon (decision G-100). A request counts while it waits for the gateway itself: to begin, or for its hold; waiting for
 * a provider does not count. Calls and reads are counted separately. A caller with less than an equal share of the
 * waiting requests is served. Health checks and the operator are never refused.
 */
export class LoadShedder {
  private readonly detectors: Readonly<Partial<Record<RequestPriority, OverloadDetector>>>;

  constructor(private readonly options: OverloadOptions) {
    const { maxWaiting, nowMs, holds } = options;
    this.detectors = {
      calls: new OverloadDetector(maxWaiting, nowMs, holds),
      reads: new OverloadDetector(maxWaiting * READ_FACTOR, nowMs),
    };
  }

  /** Whether the request must be refused now. */
  refuses(request: IncomingMessage): boolean {
    const detector = this.detectors[requestPriorityOf(request)];
    return detector?.isOverloaded() === true && detector.hasShare(this.options.bucketOf(request));
  }

  /** `begin`, counted as waiting until it is called. */
  counted(request: IncomingMessage, begin: () => void): () => void {
    const detector = this.detectors[requestPriorityOf(request)];
    if (!detector) return begin;
    const bucket = this.options.bucketOf(request);
    detector.waiting.add(bucket);
    return () => {
      detector.waiting.add(bucket, -1);
      begin();
    };
  }
}

const NO_HOLDS: WaitingHolds = { readyCalls: 0, readyGroups: 0, readyCallsOf: () => 0 };

/** The waiting requests of one priority, by fairness bucket. There is overload while their number reaches the limit. */
class OverloadDetector {
  readonly waiting = new BucketCounts();
  /** When the present overload began; undefined while there is none. */
  private sinceMs: number | undefined;
  /** When lasting overload was last seen while the full capacity was open. */
  private lastedMs = -Infinity;

  constructor(
    private readonly maxWaiting: number,
    private readonly nowMs: () => number,
    private readonly holds: WaitingHolds = NO_HOLDS,
  ) {}

  /** Whether there is lasting overload, or was shortly before. */
  isOverloaded(): boolean {
    const { waiting, maxWaiting, holds } = this;
    const now = this.nowMs();
    if (this.isPartClosed(now)) {
      return waiting.total >= this.openCapacity || holds.readyCalls >= maxWaiting;
    }
    if (waiting.total + holds.readyCalls < maxWaiting) {
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
   * Whether the bucket has its equal share of the waiting requests. With more buckets than capacity, every bucket has.
   * Calls that wait for their hold use no open capacity while a part is closed, so they are compared with the full
   * capacity, as in {@link isOverloaded}.
   */
  hasShare(bucket: string): boolean {
    const { holds, maxWaiting } = this;
    const waiting = this.waiting.of(bucket);
    const ready = holds.readyCallsOf(bucket);
    // At least this many buckets, with the present one.
    const buckets = Math.max(
      this.waiting.buckets + (waiting > 0 ? 0 : 1),
      holds.readyGroups + (ready > 0 ? 0 : 1),
    );
    const shareOf = (capacity: number): number =>
      Math.max(Math.floor(capacity / buckets), buckets <= maxWaiting ? 1 : 0);
    return this.isPartClosed(this.nowMs())
      ? waiting >= shareOf(this.openCapacity) || ready >= shareOf(maxWaiting)
      : waiting + ready >= shareOf(maxWaiting);
  }

  private isPartClosed(now: number): boolean {
    return now - this.lastedMs < CLOSED_MS;
  }

  /** How many requests may wait while a part of the capacity is closed. */
  private get openCapacity(): number {
    return Math.ceil(this.maxWaiting / OPEN_ONE_IN);
  }
}
