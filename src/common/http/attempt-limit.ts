import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Clock } from '../time/clock.js';

const WINDOW_MS = 60_000;
/** Addresses remembered at once; beyond it those unheard of for longest are forgotten. */
const MAX_ADDRESSES = 10_000;

interface Attempts {
  readonly sinceMs: number;
  count: number;
}

/** Counts failed attempts per client address and minute, in this process. */
export class AttemptLimit {
  private readonly attempts = new LRUCache<string, Attempts>({ max: MAX_ADDRESSES });

  constructor(
    private readonly perMinute: number,
    private readonly clock: Clock,
  ) {}

  /** How long an address has to wait, in ms; 0 while it may try. */
  waitMs(address: string | undefined): number {
    const attempts = this.current(address);
    if (attempts === undefined || attempts.count < this.perMinute) return 0;
    return attempts.sinceMs + WINDOW_MS - this.clock.nowMs();
  }

  failed(address: string | undefined): void {
    const attempts = this.current(address) ?? { sinceMs: this.clock.nowMs(), count: 0 };
    attempts.count += 1;
    this.attempts.set(networkOf(address), attempts);
  }

  private current(address: string | undefined): Attempts | undefined {
    const attempts = this.attempts.get(networkOf(address));
    const isOver = attempts && this.clock.nowMs() - attempts.sinceMs >= WINDOW_MS;
    return isOver ? undefined : attempts;
  }
}

/** One customer has 2^64 addresses of IPv6: they count as one. */
function networkOf(address = ''): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = ''] = address.split('::');
  return head.split(':').slice(0, 4).join(':');
}
