import type { UpstreamTerms } from './upstream-terms.js';

/** One way to run a model: a provider and the model's name there. */
export interface Route {
  readonly provider: string;
  readonly upstreamModel: string;
  /** How the requests of the model differ. The catalog adds those of the row. */
  readonly terms?: UpstreamTerms | undefined;
}
