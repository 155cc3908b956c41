import type { Clock } from '../../common/time/clock.js';

const FAILURES_IN_A_ROW = 10;
const WINDOW_SECONDS = 10;
const WINDOW_MIN_ATTEMPTS = 20;
const OPEN_MS = 10_000;
/** Probes keep it open no longer: what they ask for may fail alone. */
const MAX_OPEN_MS = 60_000;

/** What a breaker lets through: everything, nothing, or one attempt to test the route. */
export type BreakerState = 'closed' | 'open' | 'half_open';

/** An attempt that was let through. Exactly one method has to be called once its outcome is known. */
export interface Permit {
  succeeded(): void;
  failed(): void;
  /**
   * The outcome says nothing about the route: the content was rejected, the attempt was rate limited, or it was
   * abandoned.
   */
  abandoned(): void;
}

/**
 * Stops attempts on a failing route: the breaker opens after 10 failures in a row, or when more than half of at least
 * 20 attempts within 10 s failed. After 10 s one attempt is let through; its outcome closes the breaker or opens it
 * again. A probe of the provider that succeeds lets one through at once, but closes nothing: it says that the provider is there, not
 * that the operation works. While probes fail too, the test waits up to 60 s. Outcomes of attempts that began before it opened
 * are ignored. At most `maxPerBucket` failures of one fairness bucket (an account) count, so that one caller alone cannot stop a
 * route for all.
 */
export class CircuitBreaker {
  private state: BreakerState = 'closed';
  private openedAtMs = 0;
  private restsUntilMs = 0;
  /** A probe has brought the next test forward. */
  private isEarly = false;
  /** Not after such a test has failed, until the breaker closes: else each probe would cost a call. */
  private believesProbes = true;
  private failuresInARow = 0;
  private readonly window = new Map<number, { attempts: number; failures: number }>();
  private readonly rowOf = new Map<string, number>();
  private readonly windowOf = new Map<string, number>();

  constructor(
    private readonly clock: Clock,
    private readonly onChange: (state: BreakerState) => void,
    private readonly maxPerBucket = Infinity,
  ) {}

  /** Null while the breaker is open. */
  enter(bucket?: string): Permit | null {
    if (this.state === 'closed') return new CountedAttempt(this, bucket);
    const rested = this.clock.nowMs() >= this.restsUntilMs;
    if (this.state === 'half_open' || !rested) return null;
    this.change('half_open');
    return this.test();
  }

  /** Whether nothing is let through but a test of the route. */
  get isOpen(): boolean {
    return this.state === 'open';
  }

  /**
   * What a probe of the provider has shown. If it answers, the next attempt tests the route at once. If not, the next test waits for
   * 10 s again, at most until 60 s after the breaker opened. Does nothing while the breaker is not open.
   */
  probed(answers: boolean): void {
    if (!this.isOpen) return;
    const nowMs = this.clock.nowMs();
    if (!answers) {
      this.isEarly = false;
      this.restsUntilMs = Math.min(nowMs + OPEN_MS, this.openedAtMs + MAX_OPEN_MS);
    } else if (this.believesProbes && nowMs < this.restsUntilMs) {
      this.isEarly = true;
      this.restsUntilMs = nowMs;
    }
  }

  private test(): Permit {
    return {
      succeeded: () => {
        this.failuresInARow = 0;
        this.rowOf.clear();
        this.window.clear();
        this.isEarly = false;
        this.believesProbes = true;
        this.change('closed');
      },
      failed: () => {
        if (this.isEarly) this.believesProbes = false;
        this.open();
      },
      // The breaker has been open long enough, so the next caller tests the route at once.
      abandoned: () => {
        this.change('open');
      },
    };
  }

  /** Counts the outcome of an attempt that was let through while the breaker was closed. */
  record(isFailure: boolean, bucket: string | undefined): void {
    if (this.state !== 'closed') return;
    this.recordInRow(isFailure, bucket);
    this.recordInWindow(isFailure, bucket);
    if (isFailure && (this.failuresInARow >= FAILURES_IN_A_ROW || this.isMostlyFailing()))
      this.open();
  }

  private recordInRow(isFailure: boolean, bucket: string | undefined): void {
    if (!isFailure) {
      this.failuresInARow = 0;
      // `clear()` allocates a new table even if the map is empty.
      if (this.rowOf.size > 0) this.rowOf.clear();
    } else if (this.counts(this.rowOf, bucket)) this.failuresInARow += 1;
  }

  private recordInWindow(isFailure: boolean, bucket: string | undefined): void {
    const second = this.clock.nowSeconds();
    for (const past of this.window.keys()) {
      if (past <= second - WINDOW_SECONDS) this.window.delete(past);
    }
    if (this.window.size === 0 && this.windowOf.size > 0) this.windowOf.clear();
    if (isFailure && !this.counts(this.windowOf, bucket)) return;
    let now = this.window.get(second);
    if (now === undefined) {
      now = { attempts: 0, failures: 0 };
      this.window.set(second, now);
    }
    now.attempts += 1;
    if (isFailure) now.failures += 1;
  }

  /**
   * Whether one more failure of this bucket counts. Further failures of one account say nothing more about the route.
   */
  private counts(of: Map<string, number>, bucket: string | undefined): boolean {
    if (bucket === undefined) return true;
    const counted = (of.get(bucket) ?? 0) + 1;
    of.set(bucket, counted);
    return counted <= this.maxPerBucket;
  }

  private isMostlyFailing(): boolean {
    let attempts = 0;
    let failures = 0;
    for (const second of this.window.values()) {
      attempts += second.attempts;
      failures += second.failures;
    }
    return attempts >= WINDOW_MIN_ATTEMPTS && failures * 2 > attempts;
  }

  private open(): void {
    this.isEarly = false;
    this.openedAtMs = this.clock.nowMs();
    this.restsUntilMs = this.openedAtMs + OPEN_MS;
    this.change('open');
  }

  private change(state: BreakerState): void {
    this.state = state;
    this.onChange(state);
  }
}

/** An attempt through a closed breaker. Each open stream keeps two of these; three functions would be five times as large. */
class CountedAttempt implements Permit {
  constructor(
    private readonly breaker: CircuitBreaker,
    private readonly bucket: string | undefined,
  ) {}

  succeeded(): void {
    this.breaker.record(false, this.bucket);
  }

  failed(): void {
    this.breaker.record(true, this.bucket);
  }

  abandoned(): void {
    // An abandoned attempt is not counted.
  }
}
