import type { ProviderFigures } from '../../common/money/provider-figures.js';
import type { UpstreamTerms } from './upstream-terms.js';

/** Takes the provider's own figures of one answer. */
export type OnFigures = (figures: ProviderFigures) => void;

/** What every attempt gets in addition to its command. */
export interface AttemptContext {
  /** The model's name at the provider. */
  readonly upstreamModel: string;
  /** How the requests of the model differ from the protocol's habit. */
  readonly terms?: UpstreamTerms | undefined;
  /** Told what the provider itself says that an answer cost. */
  readonly onFigures?: OnFigures | undefined;
  /** Aborting it closes the upstream connection. The attempt then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
}
