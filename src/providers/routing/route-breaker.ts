import { LRUCache } from 'lru-cache';
import type { Clock } from '../../common/time/clock.js';
import { type BreakerState, CircuitBreaker, type Permit } from './circuit-breaker.js';

/**
 * Half of the failures that open the breaker of all callers, so failures of at least two keys are needed to open it.
 */
const COUNTED_PER_KEY = 5;
/** Keys whose breakers are remembered, per route. */
const MAX_KEYS = 1_000;

/**
 * The breakers of one route: one for all callers, and one for each key. Failures that one key's input causes close the
 * route for that key alone. Only failures of several keys show that the provider itself fails.
 */
export class RouteBreaker {
  private readonly all: CircuitBreaker;
  private readonly ofKeys = new LRUCache<string, CircuitBreaker>({ max: MAX_KEYS });

  constructor(
    private readonly clock: Clock,
    onChange: (state: BreakerState) => void,
  ) {
    this.all = new CircuitBreaker(clock, onChange, COUNTED_PER_KEY);
  }

  /** Null while the route is closed to this key. Work whose key was deleted has no key of its own. */
  enter(apiKeyId: string | null): Permit | null {
    if (apiKeyId === null) return this.all.enter();
    const own = this.breakerOf(apiKeyId).enter();
    if (own === null) return null;
    const shared = this.all.enter(apiKeyId);
    if (shared === null) {
      own.abandoned();
      return null;
    }
    return new SharedAttempt(own, shared);
  }

  private breakerOf(apiKeyId: string): CircuitBreaker {
    const known = this.ofKeys.get(apiKeyId);
    if (known) return known;
    const breaker = new CircuitBreaker(this.clock, () => undefined);
    this.ofKeys.set(apiKeyId, breaker);
    return breaker;
  }
}

/** An attempt that counts for its key and for all callers. */
class SharedAttempt implements Permit {
  constructor(
    private readonly own: Permit,
    private readonly shared: Permit,
  ) {}

  succeeded(): void {
    this.own.succeeded();
    this.shared.succeeded();
  }

  failed(): void {
    this.own.failed();
    this.shared.failed();
  }

  abandoned(): void {
    this.own.abandoned();
    this.shared.abandoned();
  }
}
