import type { Clock } from '../../common/time/clock.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderErrorKind } from '../ports/attempt.js';
import type { UpstreamKey } from './upstream-key.js';

/** How long a key is left out where the provider does not say, and the longest and shortest time in any case. */
const RATE_REST_MS = 5_000;
const MAX_REST_MS = 60_000;
const MIN_REST_MS = 1;
/** How long the one call that tries a key after its rest may take, until another one may try it too. */
const TRIAL_MS = 10_000;

interface Rest {
  readonly kind: ProviderErrorKind;
  readonly refusedAtMs: number;
  /** End of the rest, or of the trial. */
  untilMs: number;
  isOnTrial: boolean;
}

interface KeyTurn<Keyed, T> {
  readonly attempt: (keyed: Keyed) => Promise<T>;
  readonly atLimit: (seconds: number) => ProviderError;
}

/**
 * The circuit breaker of each key of a provider: a key that was refused for its own rate, or for its balance or its
 * plan, is left out for a time, and then tried by one call.
 */
export class KeyRests {
  private readonly rests = new WeakMap<object, Rest>();

  constructor(private readonly clock: Clock) {}

  /**
   * The keys of one provider as one call tries them, resting ones last: where all rest, the first is tried all the same. A key whose rest is over is tried by the call that gets it first; for others it rests on until {@link accepted}.
   */
  restingLast<Key extends object>(keys: readonly Key[]): Key[] {
    const nowMs = this.clock.nowMs();
    const endOf = (key: Key): number => Math.max(nowMs, this.rests.get(key)?.untilMs ?? nowMs);
    const ordered = [...keys].sort((one, other) => endOf(one) - endOf(other));
    const [first] = ordered;
    const rest = first && this.rests.get(first);
    if (rest && rest.untilMs <= nowMs) {
      rest.untilMs = nowMs + TRIAL_MS;
      rest.isOnTrial = true;
    }
    return ordered;
  }

  /**
   * Makes the attempt with one key after the other until one is accepted. Keys that are used as much as they may be are passed over. Throws
   * the last refusal of a key, or what `atLimit` makes of the seconds until one may be used where none may be now.
   */
  async inTurn<Keyed extends { readonly key: UpstreamKey }, T>(
    keys: readonly Keyed[],
    { attempt, atLimit }: KeyTurn<Keyed, T>,
  ): Promise<T> {
    let failure: ProviderError | undefined;
    let waitSeconds = Infinity;
    for (const key of this.restingLast(keys.map((own) => own.key))) {
      const seconds = key.secondsUntilFree();
      const keyed = keys.find((own) => own.key === key);
      if (seconds > 0 || !keyed) {
        waitSeconds = Math.min(waitSeconds, seconds);
        this.undecided(key);
        continue;
      }
      try {
        return await attempt(keyed);
      } catch (error) {
        if (!isOfKey(error) || error.isPartial) throw error;
        failure = error;
      }
    }
    throw failure ?? atLimit(waitSeconds);
  }

  /** The provider answered to the key. It rests no more, unless it was refused after the call had begun. */
  accepted(key: object, beganAtMs: number): void {
    const rest = this.rests.get(key);
    if (rest && rest.refusedAtMs < beganAtMs) this.rests.delete(key);
  }

  /** A call with the key has ended otherwise: if the key is on trial, the next call may try. */
  undecided(key: object): void {
    const rest = this.rests.get(key);
    if (rest?.isOnTrial) rest.untilMs = this.clock.nowMs();
  }

  /** The provider refused the key alone: it rests. */
  refused(key: object, { kind, retryAfterSeconds }: ProviderError): void {
    const refusedAtMs = this.clock.nowMs();
    const askedMs = retryAfterSeconds === undefined ? RATE_REST_MS : retryAfterSeconds * 1_000;
    const restMs = kind === 'account' ? MAX_REST_MS : Math.min(askedMs, MAX_REST_MS);
    const untilMs = refusedAtMs + Math.max(restMs, MIN_REST_MS);
    const earlier = this.rests.get(key);
    // A late refusal of a call of before does not shorten a rest.
    const othersMs = earlier && !earlier.isOnTrial ? earlier.untilMs : untilMs;
    this.rests.set(key, {
      kind,
      refusedAtMs,
      untilMs: Math.max(untilMs, othersMs),
      isOnTrial: false,
    });
  }

  /** Why the provider refused the key last, for which it rests or is on trial; undefined once the provider has answered to it. */
  reasonOf(key: object): ProviderErrorKind | undefined {
    return this.rests.get(key)?.kind;
  }
}

/** Whether the provider refused the key for its rate, its balance or its plan, so that another may be accepted. */
export const isOfKey = (error: unknown): error is ProviderError =>
  error instanceof ProviderError && (error.kind === 'rate_limited' || error.kind === 'account');
