import type { ProviderErrorKind } from '../http/provider-error.js';
import type { BreakerState } from './circuit-breaker.js';

/**
 * A finished upstream call. `durationMs` runs to the first usable byte of a stream, to the end of
 * any other answer, or to the failure.
 */
export interface CallObservation {
  readonly provider: string;
  readonly operation: string;
  /** `aborted`: our side gave up. */
  readonly outcome: 'success' | 'aborted' | ProviderErrorKind;
  readonly durationMs: number;
}

/** Somebody who watches upstream calls, like the metrics. */
export interface ProviderObserver {
  onCall?(call: CallObservation): void;
  onBreakerChange?(change: {
    readonly provider: string;
    readonly operation: string;
    readonly state: BreakerState;
  }): void;
}
