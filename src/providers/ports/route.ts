/** One way to run a model: a provider and the model's name there. */
export interface Route {
  readonly provider: string;
  readonly upstreamModel: string;
}
