import type { StopSignal } from '../../common/stop-signal.js';

/** What every provider call gets besides its command. */
export interface CallContext {
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  /** Aborting it closes the upstream connection; the call then rejects with the signal's reason. */
  readonly signal: StopSignal;
}
