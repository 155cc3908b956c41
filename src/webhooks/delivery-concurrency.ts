import { LRUCache } from 'lru-cache';
import type { DeliveryAttempt } from './delivery.js';
import type { Rooms } from './delivery-statements.js';

/** Attempts that this process has under way at once. */
const MAX_IN_FLIGHT = 1_024;
/** Attempts at once to a receiver that is not known yet. If its host hangs, it holds this many connections once, … */
const PER_ORIGIN = 4;
/** … and then only one, until it answers in time again. */
const PER_SLOW_ORIGIN = 1;
/** Each quick answer gives the receiver one more place, up to this number. */
const PER_QUICK_ORIGIN = 32;
const QUICK_MS = 1_000;
/** Attempts at once of one account. It gets no more than half of what is free either, so that a few accounts with receivers that hang never fill the process. */
const MAX_PER_ACCOUNT = 256;
/** Origins that are remembered as slow or quick. The one that was not used for the longest time is dropped first. */
const MAX_KNOWN_ORIGINS = 1_000;
/** Deliveries claimed by one statement. */
const MAX_CLAIM = 256;

/** The speed of an attempt, as far as it changes the places of its receiver. */
type AttemptPace = Pick<DeliveryAttempt, 'statusCode' | 'error' | 'durationMs'>;

interface SlotOwner {
  /** The receiver, of each account apart. */
  readonly origin: string;
  readonly accountId: string;
}

/**
 * Counts the attempts under way, so that no receiver and no account uses up the places of others (docs/guides/webhooks.md,
 * "What to answer").
 */
export class DeliveryConcurrency {
  readonly #origins = new Map<string, number>();
  readonly #accounts = new Map<string, number>();
  /** Places of the origins that do not have {@link PER_ORIGIN}. */
  readonly #known = new LRUCache<string, number>({ max: MAX_KNOWN_ORIGINS });
  #inFlight = 0;

  /** Attempts under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** How many deliveries may be claimed now. */
  available(): Rooms {
    const origins = new Map<string, number>(this.#known.entries());
    for (const [origin, taken] of this.#origins) {
      origins.set(origin, (origins.get(origin) ?? PER_ORIGIN) - taken);
    }
    const perAccount = this.#perAccount();
    const accounts = new Map<string, number>();
    for (const [account, taken] of this.#accounts) accounts.set(account, perAccount - taken);
    // A claim takes at most half of what is free, because the rooms of accounts are only counted anew after it.
    const total = Math.min(MAX_CLAIM, this.#halfOfFree());
    return { total, perOrigin: PER_ORIGIN, origins, perAccount, accounts };
  }

  /** Attempts that one account may have under way now. */
  #perAccount(): number {
    return Math.min(MAX_PER_ACCOUNT, this.#halfOfFree());
  }

  #halfOfFree(): number {
    return Math.ceil((MAX_IN_FLIGHT - this.#inFlight) / 2);
  }

  acquire({ origin, accountId }: SlotOwner): void {
    this.#inFlight += 1;
    add(this.#origins, origin, 1);
    add(this.#accounts, accountId, 1);
  }

  /**
   * Ends an attempt; its pace decides how many places its receiver has from now on. Returns whether another delivery
   * may have waited for the place.
   */
  release({ origin, accountId }: SlotOwner, pace: AttemptPace): boolean {
    const limit = this.#known.get(origin) ?? PER_ORIGIN;
    const wasFull =
      this.#perAccount() < MAX_PER_ACCOUNT ||
      (this.#origins.get(origin) ?? 0) >= limit ||
      (this.#accounts.get(accountId) ?? 0) >= MAX_PER_ACCOUNT;
    const next = limitAfter(limit, pace);
    if (next === PER_ORIGIN) this.#known.delete(origin);
    else this.#known.set(origin, next);
    this.#inFlight -= 1;
    add(this.#origins, origin, -1);
    add(this.#accounts, accountId, -1);
    return wasFull;
  }
}

function limitAfter(limit: number, { statusCode, error, durationMs }: AttemptPace): number {
  if (error === 'timeout') return PER_SLOW_ORIGIN;
  const isQuick = statusCode !== null && durationMs <= QUICK_MS;
  return isQuick && limit >= PER_ORIGIN ? Math.min(PER_QUICK_ORIGIN, limit + 1) : PER_ORIGIN;
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
