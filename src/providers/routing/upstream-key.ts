import type { Clock } from '../../common/time/clock.js';
import type { Permit } from './circuit-breaker.js';

const WINDOW_SECONDS = 60;

/** What the operator allows one key of a provider; absent: as much as comes. */
export interface KeyLimits {
  readonly requestsPerMinute?: number | undefined;
  /** Requests in flight. */
  readonly concurrent?: number | undefined;
}

/** One key of a provider, as this process uses it. It is the same object for as long as the provider has the key, also when the catalog is read anew. */
export class UpstreamKey {
  limits: KeyLimits = {};
  /** Its place among the keys of the provider, such as `key-1`. */
  name = '';
  private inFlight = 0;
  private readonly begun = new Map<number, number>();

  /** @param id names the key in the records of tasks and is no part of it */
  constructor(
    readonly id: string,
    private readonly clock: Clock,
  ) {}

  get running(): number {
    return this.inFlight;
  }

  /** Requests that began within the last minute. */
  get lastMinute(): number {
    this.forgetOlder();
    return [...this.begun.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Whole seconds until one more request may begin, at least 1; 0: it may now. */
  secondsUntilFree(): number {
    const { requestsPerMinute = Infinity, concurrent = Infinity } = this.limits;
    if (this.inFlight >= concurrent) return 1;
    if (this.lastMinute < requestsPerMinute) return 0;
    const [oldest = 0] = this.begun.keys();
    return Math.max(1, oldest + WINDOW_SECONDS + 1 - this.clock.nowSeconds());
  }

  /** The permit of a request that begins now with the key. It counts as in flight until its outcome is told. */
  begin(permit: Permit): Permit {
    this.inFlight += 1;
    const second = this.clock.nowSeconds();
    if (!this.begun.has(second)) this.forgetOlder();
    this.begun.set(second, (this.begun.get(second) ?? 0) + 1);
    return new KeyedPermit(permit, this);
  }

  end(): void {
    this.inFlight -= 1;
  }

  /** Counts are of whole seconds, so one is kept a second longer: no minute has more than is allowed. */
  private forgetOlder(): void {
    const second = this.clock.nowSeconds();
    for (const past of this.begun.keys()) {
      if (past < second - WINDOW_SECONDS) this.begun.delete(past);
    }
  }
}

/** A permit that ends the use of a key with it. */
class KeyedPermit implements Permit {
  constructor(
    private readonly permit: Permit,
    private readonly use: UpstreamKey,
  ) {}

  succeeded(): void {
    this.use.end();
    this.permit.succeeded();
  }

  failed(): void {
    this.use.end();
    this.permit.failed();
  }

  abandoned(): void {
    this.use.end();
    this.permit.abandoned();
  }
}
