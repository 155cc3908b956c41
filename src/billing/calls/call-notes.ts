import { reportedCostOf } from '../../catalog/reported-cost.js';
import { type CostedRoute, type MadeUnits, routeCostOf } from '../../catalog/route-cost.js';
import type { ProviderFigures, UnchargedQuantity } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { TriedRoute } from '../../providers/ports/attempt.js';
import type { ExecutionEnd } from './execution-commands.js';

type Noted = Pick<ExecutionEnd, 'providerFigures' | 'outputCap' | 'costMicroUsd'>;
type Tried = Partial<TriedRoute> & Pick<ExecutionEnd, 'uncharged'>;

/** What becomes known about a paid call while it runs, and is recorded however it ends. */
export class CallNotes {
  /** What was generated so far. */
  uncharged: UnchargedQuantity | null = null;
  /** The output cap that the gateway chose. */
  outputCap: number | undefined;
  private tried: TriedRoute | undefined;
  private route: CostedRoute | undefined;
  private figures: ProviderFigures | null | undefined;

  /** An attempt begins. Figures of a provider that did nothing are dropped. */
  onAttempt(tried: TriedRoute, route: CostedRoute | undefined): void {
    this.tried = tried;
    this.route = route;
    this.figures = null;
  }

  /** Cost figures that the provider reported. */
  onFigures(figures: ProviderFigures): void {
    this.figures = { ...this.figures, ...figures };
  }

  /** For the record of a call that succeeded with what was made. */
  ofSuccess(made: MadeUnits | null): Noted {
    return { ...this.noted, costMicroUsd: this.costOf(made) };
  }

  /** For the record of a call that failed. */
  ofFailure(): Noted & Tried {
    const { tried, noted, uncharged } = this;
    return { ...tried, ...noted, uncharged, costMicroUsd: this.costOf(uncharged) };
  }

  private get noted(): Omit<Noted, 'costMicroUsd'> {
    const { figures, outputCap } = this;
    return {
      ...(figures !== undefined && { providerFigures: figures }),
      ...(outputCap !== undefined && { outputCap }),
    };
  }

  /**
   * What the work costs at its provider: the provider's own figure where its unit is declared, else what was made, at the
   * cost of the route. Null where neither is known: a failed call of which the provider said nothing has no cost.
   */
  private costOf(made: MadeUnits | null): MicroUsd | null {
    const { route, figures } = this;
    if (route === undefined) return null;
    const reported = reportedCostOf(route.reportedCost, figures);
    return reported ?? (made === null ? null : (routeCostOf(route, made) ?? null));
  }
}
