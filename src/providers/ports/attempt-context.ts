import type { StopSignal } from '../../common/stop-signal.js';

/** What every attempt gets besides its command. */
export interface AttemptContext {
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  /** Aborting it closes the upstream connection; the attempt then rejects with the signal's reason. */
  readonly signal: StopSignal;
}
