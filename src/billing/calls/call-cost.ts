import { reportedCostOf } from '../../catalog/reported-cost.js';
import { type CostedRoute, type MadeUnits, routeCostOf } from '../../catalog/route-cost.js';
import type { ProviderFigures } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';

/** What an attempt gave: the provider's own figures, and what it made, charged or not. */
interface AttemptWork {
  readonly figures: ProviderFigures | null | undefined;
  /** Null where nothing was made. */
  readonly made: MadeUnits | null;
}

/**
 * What the work of a call costs at its provider: its own figure where the provider declares one, else what was made at the
 * cost of the route. Null where neither is known: a failed call of which the provider said nothing has no cost.
 */
export function costOfCall(
  route: CostedRoute | undefined,
  { figures, made }: AttemptWork,
): MicroUsd | null {
  if (route === undefined) return null;
  const reported = reportedCostOf(route.reportedCost, figures);
  return reported ?? (made === null ? null : (routeCostOf(route, made) ?? null));
}
