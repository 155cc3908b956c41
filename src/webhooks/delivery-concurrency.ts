import { LRUCache } from 'lru-cache';
import { BucketCounts } from '../platform/fairness/bucket-counts.js';
import type { DeliveryAttempt } from './delivery.js';
import type { ClaimLimits } from './delivery-statements.js';

/** Most concurrent attempts of this process. */
const MAX_IN_FLIGHT = 1_024;
/** Most concurrent attempts to a receiver of unknown speed. */
const PER_ORIGIN = 4;
/** Most concurrent attempts to a receiver whose last attempt timed out. */
const PER_SLOW_ORIGIN = 1;
/** Each quick response raises the limit of a receiver by one, up to this number. */
const PER_QUICK_ORIGIN = 32;
const QUICK_MS = 1_000;
/**
 * Most concurrent attempts of one account. An account also gets at most half of the free capacity, so that a few accounts with
 * hanging receivers never use up the process.
 */
const MAX_PER_ACCOUNT = 256;
/** Most origins remembered as slow or quick. The least recently used one is dropped first. */
const MAX_KNOWN_ORIGINS = 1_000;
/** Most deliveries claimed by one statement. */
const MAX_CLAIM = 256;

/** The outcome of an attempt, which changes the limit of its receiver. */
type AttemptOutcome = Pick<DeliveryAttempt, 'statusCode' | 'error' | 'durationMs'>;

interface AttemptOwner {
  /** The origin of the URL and the account: limits of a receiver are per account. */
  readonly origin: string;
  readonly accountId: string;
}

/**
 * Limits concurrent attempts per receiver and per account, so that none uses up the capacity of others (docs/guides/webhooks.md,
 * "What to answer"). The limits are applied by the claim in the database, so this class rejects nothing.
 */
export class DeliveryConcurrency {
  private readonly origins = new BucketCounts();
  private readonly accounts = new BucketCounts();
  /** Limits of the origins whose limit is not {@link PER_ORIGIN}. */
  private readonly known = new LRUCache<string, number>({ max: MAX_KNOWN_ORIGINS });

  /** Running attempts. */
  get inFlight(): number {
    return this.accounts.total;
  }

  /** The numbers of deliveries that may be claimed now. */
  available(): ClaimLimits {
    const origins = new Map<string, number>(this.known.entries());
    for (const [origin, taken] of this.origins.entries()) {
      origins.set(origin, (origins.get(origin) ?? PER_ORIGIN) - taken);
    }
    const perAccount = this.perAccount();
    const accounts = new Map<string, number>();
    for (const [account, taken] of this.accounts.entries()) {
      accounts.set(account, perAccount - taken);
    }
    // At most half of the free capacity, because the shares of accounts are only computed again after the claim.
    const total = Math.min(MAX_CLAIM, this.halfOfFree());
    return { total, perOrigin: PER_ORIGIN, origins, perAccount, accounts };
  }

  /** The current limit of concurrent attempts of an account. */
  private perAccount(): number {
    return Math.min(MAX_PER_ACCOUNT, this.halfOfFree());
  }

  private halfOfFree(): number {
    return Math.ceil((MAX_IN_FLIGHT - this.inFlight) / 2);
  }

  acquire({ origin, accountId }: AttemptOwner): void {
    this.origins.add(origin);
    this.accounts.add(accountId);
  }

  /**
   * Releases an attempt and adapts the limit of its receiver to the outcome. Returns whether another delivery may have waited
   * for the freed capacity.
   */
  release({ origin, accountId }: AttemptOwner, outcome: AttemptOutcome): boolean {
    const limit = this.known.get(origin) ?? PER_ORIGIN;
    const wasFull =
      this.perAccount() < MAX_PER_ACCOUNT ||
      this.origins.of(origin) >= limit ||
      this.accounts.of(accountId) >= MAX_PER_ACCOUNT;
    const next = limitAfter(limit, outcome);
    if (next === PER_ORIGIN) this.known.delete(origin);
    else this.known.set(origin, next);
    this.origins.add(origin, -1);
    this.accounts.add(accountId, -1);
    return wasFull;
  }
}

function limitAfter(limit: number, { statusCode, error, durationMs }: AttemptOutcome): number {
  if (error === 'timeout') return PER_SLOW_ORIGIN;
  const isQuick = statusCode !== null && durationMs <= QUICK_MS;
  return isQuick && limit >= PER_ORIGIN ? Math.min(PER_QUICK_ORIGIN, limit + 1) : PER_ORIGIN;
}
