import type { Clock } from '../../common/time/clock.js';
import { ProviderError } from '../http/provider-error.js';

/** How long a key is left out where the provider does not say, and the longest time in any case. */
const RATE_REST_MS = 5_000;
const MAX_REST_MS = 60_000;

/**
 * Which keys of providers with several are left out for now: those that were refused for their own rate, or for their balance or
 * their plan. A key is known by the adapter that was made with it, so a provider that is configured anew begins without rests.
 */
export class KeyRests {
  private readonly untilMs = new WeakMap<object, number>();

  constructor(private readonly clock: Clock) {}

  /** The adapters of one provider's keys, those of resting keys last: where all rest, the first is asked all the same. */
  restingLast<Port extends object>(ports: readonly Port[]): Port[] {
    const nowMs = this.clock.nowMs();
    const endOf = (port: Port): number => Math.max(nowMs, this.untilMs.get(port) ?? nowMs);
    return [...ports].sort((one, other) => endOf(one) - endOf(other));
  }

  /** Whether the error is the refusal of the key alone, so that another may be accepted; then the key rests. */
  refused(port: object, error: unknown): boolean {
    if (!(error instanceof ProviderError)) return false;
    const { kind, retryAfterSeconds } = error;
    if (kind !== 'rate_limited' && kind !== 'account') return false;
    const askedMs = retryAfterSeconds === undefined ? RATE_REST_MS : retryAfterSeconds * 1_000;
    const restMs = kind === 'account' ? MAX_REST_MS : Math.min(askedMs, MAX_REST_MS);
    this.untilMs.set(port, this.clock.nowMs() + restMs);
    return true;
  }
}
