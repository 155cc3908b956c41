import { LRUCache } from 'lru-cache';
import type { Rooms } from './delivery-statements.js';

/** Attempts under way at once in this process. */
const MAX_IN_FLIGHT = 1_024;
/** Of one receiver: a host that hangs holds this many connections once, … */
const MAX_PER_ORIGIN = 4;
/** … and one from then on, until it answers in time again. */
const MAX_PER_SLOW_ORIGIN = 1;
/** Of one account, whose receivers may be many. */
const MAX_PER_ACCOUNT = 512;
/** Origins remembered as slow; the longest quiet is forgotten first. */
const MAX_SLOW_ORIGINS = 1_000;
/** Deliveries claimed by one statement. */
const MAX_CLAIM = 256;

interface SlotOwner {
  readonly origin: string;
  readonly accountId: string;
}

/** Counts the attempts under way, so that no receiver and no account takes the places of the others (reliability: Webhooks). */
export class DeliverySlots {
  readonly #origins = new Map<string, number>();
  readonly #accounts = new Map<string, number>();
  readonly #slow = new LRUCache<string, true>({ max: MAX_SLOW_ORIGINS });
  #inFlight = 0;

  /** Attempts under way. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** What may be claimed now. */
  rooms(): Rooms {
    const origins = new Map<string, number>();
    for (const origin of this.#slow.keys()) origins.set(origin, MAX_PER_SLOW_ORIGIN);
    for (const [origin, taken] of this.#origins) {
      origins.set(origin, (origins.get(origin) ?? MAX_PER_ORIGIN) - taken);
    }
    const accounts = new Map<string, number>();
    for (const [account, taken] of this.#accounts) accounts.set(account, MAX_PER_ACCOUNT - taken);
    const total = Math.min(MAX_CLAIM, MAX_IN_FLIGHT - this.#inFlight);
    return { total, perOrigin: MAX_PER_ORIGIN, origins, perAccount: MAX_PER_ACCOUNT, accounts };
  }

  take({ origin, accountId }: SlotOwner): void {
    this.#inFlight += 1;
    add(this.#origins, origin, 1);
    add(this.#accounts, accountId, 1);
  }

  /**
   * Ends an attempt; `isSlow` says whether the receiver let it run into the deadline. Returns whether the place may have
   * been waited for.
   */
  giveBack({ origin, accountId }: SlotOwner, isSlow: boolean): boolean {
    const limit = this.#slow.has(origin) ? MAX_PER_SLOW_ORIGIN : MAX_PER_ORIGIN;
    const wasFull =
      this.#inFlight >= MAX_IN_FLIGHT ||
      (this.#origins.get(origin) ?? 0) >= limit ||
      (this.#accounts.get(accountId) ?? 0) >= MAX_PER_ACCOUNT;
    if (isSlow) this.#slow.set(origin, true);
    else this.#slow.delete(origin);
    this.#inFlight -= 1;
    add(this.#origins, origin, -1);
    add(this.#accounts, accountId, -1);
    return wasFull;
  }
}

function add(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
