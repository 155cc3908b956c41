import type { Clock } from '../../common/time/clock.js';
import { ProviderError } from '../http/provider-error.js';

/** How long a key is left out where the provider does not say, and the longest and shortest time in any case. */
const RATE_REST_MS = 5_000;
const MAX_REST_MS = 60_000;
const MIN_REST_MS = 1;
/** How long the one call that tries a key after its rest may take, until another one may try it too. */
const TRIAL_MS = 10_000;

interface Rest {
  readonly refusedAtMs: number;
  /** End of the rest, or of the trial. */
  untilMs: number;
  isOnTrial: boolean;
}

/**
 * The circuit breaker of each key of a provider with several: a key that was refused for its own rate, or for its balance or its
 * plan, is left out for a time, and then tried by one call. A key is known by the adapter that was made with it, so a provider that
 * is configured anew begins without rests.
 */
export class KeyRests {
  private readonly rests = new WeakMap<object, Rest>();

  constructor(private readonly clock: Clock) {}

  /**
   * The adapters of one provider's keys as one call asks them, those of resting keys last: where all rest, the first is asked all
   * the same. A key whose rest is over is tried by the call that gets it first; for others it rests on until {@link accepted}.
   */
  restingLast<Port extends object>(ports: readonly Port[]): Port[] {
    const nowMs = this.clock.nowMs();
    const endOf = (port: Port): number => Math.max(nowMs, this.rests.get(port)?.untilMs ?? nowMs);
    const ordered = [...ports].sort((one, other) => endOf(one) - endOf(other));
    const [first] = ordered;
    const rest = first && this.rests.get(first);
    if (rest && rest.untilMs <= nowMs) {
      rest.untilMs = nowMs + TRIAL_MS;
      rest.isOnTrial = true;
    }
    return ordered;
  }

  /** The provider answered to the key. It rests no more, unless it was refused after the call had begun. */
  accepted(port: object, beganAtMs: number): void {
    const rest = this.rests.get(port);
    if (rest && rest.refusedAtMs < beganAtMs) this.rests.delete(port);
  }

  /** A call with the key has ended otherwise: if the key is on trial, the next call may try. */
  undecided(port: object): void {
    const rest = this.rests.get(port);
    if (rest?.isOnTrial) rest.untilMs = this.clock.nowMs();
  }

  /** The provider refused the key alone: it rests. */
  refused(port: object, { kind, retryAfterSeconds }: ProviderError): void {
    const refusedAtMs = this.clock.nowMs();
    const askedMs = retryAfterSeconds === undefined ? RATE_REST_MS : retryAfterSeconds * 1_000;
    const restMs = kind === 'account' ? MAX_REST_MS : Math.min(askedMs, MAX_REST_MS);
    const untilMs = refusedAtMs + Math.max(restMs, MIN_REST_MS);
    const earlier = this.rests.get(port);
    // A late refusal of a call of before does not shorten a rest.
    const othersMs = earlier && !earlier.isOnTrial ? earlier.untilMs : untilMs;
    this.rests.set(port, { refusedAtMs, untilMs: Math.max(untilMs, othersMs), isOnTrial: false });
  }
}

/** Whether the provider refused the key for its rate, its balance or its plan, so that another may be accepted. */
export const isOfKey = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.kind === 'rate_limited' || error.kind === 'account');
