import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../common/entries-limit.js';
import type { Clock } from '../../common/time/clock.js';
import { type BreakerState, CircuitBreaker, type Permit } from './circuit-breaker.js';

/**
 * Half of the failures that open the breaker of all callers, so failures of at least two accounts are needed to open it.
 */
const COUNTED_PER_ACCOUNT = 5;
/** Maximum accounts with a breaker in memory, per route. */
const MAX_ACCOUNTS = 1_000;

/**
 * The breakers of one route: one for all callers, and one for each account. Failures caused by one account's input stop
 * the route for that account alone, however many keys it has. Only failures of several accounts show that the provider
 * itself fails.
 */
export class RouteBreaker {
  private readonly all: CircuitBreaker;
  private readonly ofAccounts = new LRUCache<string, CircuitBreaker>(entriesLimit(MAX_ACCOUNTS));

  constructor(
    private readonly clock: Clock,
    onChange: (state: BreakerState) => void,
  ) {
    this.all = new CircuitBreaker(clock, onChange, COUNTED_PER_ACCOUNT);
  }

  /** Null while the route is closed to this account. Work outside of any call has none. */
  enter(accountId: string | null): Permit | null {
    if (accountId === null) return this.all.enter();
    const own = this.breakerOf(accountId).enter();
    if (own === null) return null;
    const shared = this.all.enter(accountId);
    if (shared === null) {
      own.abandoned();
      return null;
    }
    return new SharedAttempt(own, shared);
  }

  /** Whether it is open to all callers. */
  get isOpen(): boolean {
    return this.all.isOpen;
  }

  /** See {@link CircuitBreaker.probed}. An account's own breaker, which its input may have opened, is not changed. */
  probed(answers: boolean): void {
    this.all.probed(answers);
  }

  private breakerOf(accountId: string): CircuitBreaker {
    const known = this.ofAccounts.get(accountId);
    if (known) return known;
    const breaker = new CircuitBreaker(this.clock, () => undefined);
    this.ofAccounts.set(accountId, breaker);
    return breaker;
  }
}

/** An attempt that counts for its account and for all callers. */
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
