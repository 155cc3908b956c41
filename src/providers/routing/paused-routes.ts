import type { Clock } from '../../common/time/clock.js';

/** A route that an operator has paused, or all routes of a provider. */
export interface PausedRoute {
  readonly provider: string;
  /** Null: all of the provider. */
  readonly upstreamModel: string | null;
  readonly until: Date;
}

/** The routes that get no new work now, as this process knows them. */
export class PausedRoutes {
  private untilMs: ReadonlyMap<string, number> = new Map();

  constructor(private readonly clock: Clock) {}

  /** Replaces all. */
  replace(pauses: readonly PausedRoute[]): void {
    this.untilMs = new Map(pauses.map((pause) => [keyOf(pause), pause.until.getTime()]));
  }

  /** Whether the route gets no new work. */
  has(route: { readonly provider: string; readonly upstreamModel: string }): boolean {
    return this.secondsLeft(route) > 0;
  }

  /** Whole seconds until the route gets work again; 0 where it is not paused. */
  secondsLeft({
    provider,
    upstreamModel,
  }: {
    readonly provider: string;
    readonly upstreamModel: string;
  }): number {
    if (this.untilMs.size === 0) return 0;
    const ofProvider = this.untilMs.get(keyOf({ provider, upstreamModel: null })) ?? 0;
    const ofRoute = this.untilMs.get(keyOf({ provider, upstreamModel })) ?? 0;
    const leftMs = Math.max(ofProvider, ofRoute) - this.clock.nowMs();
    return Math.max(0, Math.ceil(leftMs / 1000));
  }
}

/** No id of a provider contains a space. */
const keyOf = ({ provider, upstreamModel }: Omit<PausedRoute, 'until'>): string =>
  `${provider} ${upstreamModel ?? ''}`;
