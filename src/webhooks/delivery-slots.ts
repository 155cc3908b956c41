import { LRUCache } from 'lru-cache';
import type { DeliveryAttempt } from './delivery.js';
import type { Rooms } from './delivery-statements.js';

/** Attempts under way at once in this process. */
const MAX_IN_FLIGHT = 1_024;
/** Of one receiver of which nothing is known: a host that hangs holds this many connections once, … */
const PER_ORIGIN = 4;
/** … and one from then on, until it answers in time again. */
const PER_SLOW_ORIGIN = 1;
/** Each quick answer gives the receiver one place more, up to so many. */
const PER_QUICK_ORIGIN = 32;
const QUICK_MS = 1_000;
/** Of one account, whose receivers may be many. */
const MAX_PER_ACCOUNT = 512;
/** Origins remembered as slow or quick; the longest quiet is forgotten first. */
const MAX_KNOWN_ORIGINS = 1_000;
/** Deliveries claimed by one statement. */
const MAX_CLAIM = 256;

/** How an attempt ended, as far as the places of its receiver are concerned. */
type AttemptPace = Pick<DeliveryAttempt, 'statusCode' | 'error' | 'durationMs'>;

interface SlotOwner {
  readonly origin: string;
  readonly accountId: string;
}

/** Counts the attempts under way, so that no receiver and no account takes the places of the others (reliability: Webhooks). */
export class DeliverySlots {
  readonly #origins = new Map<string, number>();
  readonly #accounts = new Map<string, number>();
  /** Places of the origins that have not {@link PER_ORIGIN}. */
  readonly #known = new LRUCache<string, number>({ max: MAX_KNOWN_ORIGINS });
  #inFlight = 0;

  /** Attempts under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** What may be claimed now. */
  rooms(): Rooms {
    const origins = new Map<string, number>(this.#known.entries());
    for (const [origin, taken] of this.#origins) {
      origins.set(origin, (origins.get(origin) ?? PER_ORIGIN) - taken);
    }
    const accounts = new Map<string, number>();
    for (const [account, taken] of this.#accounts) accounts.set(account, MAX_PER_ACCOUNT - taken);
    const total = Math.min(MAX_CLAIM, MAX_IN_FLIGHT - this.#inFlight);
    return { total, perOrigin: PER_ORIGIN, origins, perAccount: MAX_PER_ACCOUNT, accounts };
  }

  take({ origin, accountId }: SlotOwner): void {
    this.#inFlight += 1;
    add(this.#origins, origin, 1);
    add(this.#accounts, accountId, 1);
  }

  /** Ends an attempt, whose pace says how many places its receiver has from now on. Returns whether one may have been waited for. */
  giveBack({ origin, accountId }: SlotOwner, pace: AttemptPace): boolean {
    const limit = this.#known.get(origin) ?? PER_ORIGIN;
    const wasFull =
      this.#inFlight >= MAX_IN_FLIGHT ||
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
