import { LRUCache } from 'lru-cache';
import { entriesLimit } from '../../../common/entries-limit.js';
import type { Clock } from '../../../common/time/clock.js';
import { ipPrefixOf } from './connections-per-ip.js';

const WINDOW_MS = 60_000;
/** Most addresses that are remembered. Beyond it the least recently seen address is dropped. */
const MAX_ADDRESSES = 10_000;

interface Guesses {
  readonly sinceMs: number;
  count: number;
}

/**
 * Counts wrong guesses per client address and minute, in this process. This is no `Quota`: guesses are forgotten after a
 * minute, and never released.
 */
export class FailedAttemptLimiter {
  private readonly guesses = new LRUCache<string, Guesses>(entriesLimit(MAX_ADDRESSES));

  constructor(
    private readonly perMinute: number,
    private readonly clock: Clock,
  ) {}

  /** How long an address has to wait before its next attempt, in ms; 0 if it may try now. */
  waitMs(address: string | undefined): number {
    const guesses = this.current(address);
    if (guesses === undefined || guesses.count < this.perMinute) return 0;
    return guesses.sinceMs + WINDOW_MS - this.clock.nowMs();
  }

  failed(address: string | undefined): void {
    const guesses = this.current(address) ?? { sinceMs: this.clock.nowMs(), count: 0 };
    guesses.count += 1;
    this.guesses.set(ipPrefixOf(address), guesses);
  }

  private current(address: string | undefined): Guesses | undefined {
    const guesses = this.guesses.get(ipPrefixOf(address));
    const isOver = guesses && this.clock.nowMs() - guesses.sinceMs >= WINDOW_MS;
    return isOver ? undefined : guesses;
  }
}
