import type { ProviderFigures } from '../../common/money/provider-figures.js';
import type { UpstreamTerms } from './upstream-terms.js';

/** Receives the provider's own cost figures of one response. */
export type OnFigures = (figures: ProviderFigures) => void;

/** What every attempt gets in addition to its command. */
export interface AttemptContext {
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  /** Deviations of the model's requests from the standard form of the protocol. */
  readonly terms?: UpstreamTerms | undefined;
  /** Called with the cost of a response as the provider reports it. */
  readonly onFigures?: OnFigures | undefined;
  /** Aborting it closes the upstream connection. The attempt then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}
