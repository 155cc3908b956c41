import type { StopSignal } from '../../common/stop-signal.js';

/** What every attempt gets in addition to its command. */
export interface AttemptContext {
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  /** Aborting it closes the upstream connection. The attempt then rejects with the reason of the signal. */
  readonly signal: StopSignal;
}
