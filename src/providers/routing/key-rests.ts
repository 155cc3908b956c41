import type { Clock } from '../../common/time/clock.js';
import { ProviderError } from '../http/provider-error.js';

/** How long a key is left out where the provider does not say, and the longest time in any case. */
const RATE_REST_MS = 5_000;
const MAX_REST_MS = 60_000;
/** How long the one call that tries a key after its rest may take, until another one may try it too. */
const TRIAL_MS = 10_000;

/**
 * The circuit breaker of each key of a provider with several: a key that was refused for its own rate, or for its balance or its
 * plan, is left out for a time, and then tried by one call. A key is known by the adapter that was made with it, so a provider that
 * is configured anew begins without rests.
 */
export class KeyRests {
  private readonly untilMs = new WeakMap<object, number>();

  constructor(private readonly clock: Clock) {}

  /**
   * The adapters of one provider's keys as one call asks them, those of resting keys last: where all rest, the first is asked all
   * the same. A key whose rest is over is tried by the call that gets it first; for others it rests on until {@link accepted}.
   */
  restingLast<Port extends object>(ports: readonly Port[]): Port[] {
    const nowMs = this.clock.nowMs();
    const endOf = (port: Port): number => Math.max(nowMs, this.untilMs.get(port) ?? nowMs);
    const ordered = [...ports].sort((one, other) => endOf(one) - endOf(other));
    const [first] = ordered;
    if (first && this.untilMs.has(first) && endOf(first) === nowMs)
      this.untilMs.set(first, nowMs + TRIAL_MS);
    return ordered;
  }

  /** The provider answered to the key: it rests no more. */
  accepted(port: object): void {
    this.untilMs.delete(port);
  }

  /** Whether the error is the refusal of the key alone, so that another may be accepted; then the key rests. */
  refused(port: object, error: unknown): boolean {
    if (!isOfKey(error)) return false;
    const { kind, retryAfterSeconds } = error;
    const askedMs = retryAfterSeconds === undefined ? RATE_REST_MS : retryAfterSeconds * 1_000;
    const restMs = kind === 'account' ? MAX_REST_MS : Math.min(askedMs, MAX_REST_MS);
    this.untilMs.set(port, this.clock.nowMs() + restMs);
    return true;
  }
}

/** Whether the provider refused the key for its rate, its balance or its plan. */
export const isOfKey = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.kind === 'rate_limited' || error.kind === 'account');
