import { StopSource } from '../common/stop-signal.js';
import type { Clock } from '../common/time/clock.js';
import type { ConnectionPlace } from '../admission/provider-connections.js';
import type { AttemptWatcher, TriedRoute } from '../providers/routing/provider-router.js';
import type { ExecutionStart } from './execution-steps.js';

/** What the work reports for the record of its call. */
export interface CallProgress extends AttemptWatcher {
  /** The first byte of the answer. */
  onFirstByte(): void;
}

/** A call between its admission and its end. */
export class RunningCall implements CallProgress {
  readonly stop = new StopSource();
  readonly #startedMs: number;
  #firstByteMs: number | null = null;
  #tried: TriedRoute | undefined;

  constructor(
    readonly start: ExecutionStart,
    private readonly clock: Clock,
    private readonly connection: ConnectionPlace,
  ) {
    this.#startedMs = clock.nowMs();
  }

  onFirstByte(): void {
    this.#firstByteMs ??= this.#elapsedMs();
  }

  mayConnect(provider: string): boolean {
    return this.connection.moveTo(provider);
  }

  onAttempt(route: TriedRoute): void {
    this.#tried = route;
  }

  /** The last route that was tried. */
  get tried(): TriedRoute | undefined {
    return this.#tried;
  }

  get durationMs(): number {
    return this.#elapsedMs();
  }

  /** The first byte of an answer that is sent whole comes at its end. */
  get timesOfSuccess(): { firstByteMs: number; durationMs: number } {
    const durationMs = this.#elapsedMs();
    return { firstByteMs: this.#firstByteMs ?? durationMs, durationMs };
  }

  #elapsedMs(): number {
    return Math.max(0, Math.round(this.clock.nowMs() - this.#startedMs));
  }
}
