import type { UnchargedQuantity, ProviderFigures } from '../../common/money/charge-basis.js';
import type { Clock } from '../../common/time/clock.js';
import type { ConnectionLease } from '../../admission/provider-connection-limit.js';
import type { AttemptWatcher, TriedRoute } from '../../providers/routing/provider-router.js';
import type { ExecutionStart } from './execution-commands.js';

/** Events that the work of a call reports for the call's record. */
export interface CallProgress extends AttemptWatcher {
  /** The first byte of the response was sent to the caller. */
  onFirstByte(): void;
  /** The provider has begun to send a result that is forwarded only when it is complete. */
  onArrival(): void;
  /** What was generated so far. If the call fails, the last reported value is recorded as uncharged (decision G-103). */
  onMade(made: UnchargedQuantity): void;
  /** Cost figures that the provider reported. They are recorded however the call ends. */
  onFigures(figures: ProviderFigures): void;
}

/** A call between its admission and its end. */
export class CallState implements CallProgress {
  readonly stop = new AbortController();
  readonly #startedMs: number;
  #firstByteMs: number | null = null;
  #isArriving = false;
  #tried: TriedRoute | undefined;
  #made: UnchargedQuantity | undefined;
  #figures: ProviderFigures | undefined;

  constructor(
    readonly start: ExecutionStart,
    private readonly clock: Clock,
    private readonly connection: ConnectionLease,
  ) {
    this.#startedMs = clock.nowMs();
  }

  onFirstByte(): void {
    this.#firstByteMs ??= this.#elapsedMs();
  }

  onArrival(): void {
    this.#isArriving = true;
  }

  onMade(made: UnchargedQuantity): void {
    this.#made = made;
  }

  onFigures(figures: ProviderFigures): void {
    this.#figures = { ...this.#figures, ...figures };
  }

  mayConnect(provider: string): boolean {
    return this.connection.moveTo(provider);
  }

  onAttempt(route: TriedRoute): void {
    this.#tried = route;
  }

  /** Whether the provider has begun to send the result. */
  get hasBegun(): boolean {
    return this.#isArriving || this.#firstByteMs !== null;
  }

  /** The last route that was tried. */
  get tried(): TriedRoute | undefined {
    return this.#tried;
  }

  /** The provider's figures and uncharged work, for the record of a failure. */
  get work(): { providerFigures: ProviderFigures | null; uncharged: UnchargedQuantity | null } {
    return { providerFigures: this.#figures ?? null, uncharged: this.#made ?? null };
  }

  get durationMs(): number {
    return this.#elapsedMs();
  }

  /** For a response that is sent as a whole, the time of the first byte is the duration. */
  get timesOfSuccess(): { firstByteMs: number; durationMs: number } {
    const durationMs = this.#elapsedMs();
    return { firstByteMs: this.#firstByteMs ?? durationMs, durationMs };
  }

  #elapsedMs(): number {
    return Math.max(0, Math.round(this.clock.nowMs() - this.#startedMs));
  }
}
