import type { Catalog } from '../catalog/catalog.js';
import { type ReportedCost, reportedCostOf } from '../catalog/reported-cost.js';
import { type MadeUnits, routeCostOf } from '../catalog/route-cost.js';
import type { ProviderFigures } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { Task } from './task.js';

/**
 * What a task that has ended costs at its provider: the provider's own figures of all its steps where it declares one, else the cost
 * of the route for a task that succeeded. Null where neither is known, and as long as the outcome is unknown.
 */
export function costOfTask(
  { status, stepState, routeCostMicroUsd }: Task,
  declared: ReportedCost | undefined,
): MicroUsd | null {
  if (status !== 'succeeded' && status !== 'failed' && status !== 'expired') return null;
  const figures = stepState.providerFigures as ProviderFigures | undefined;
  const reported = reportedCostOf(declared, figures);
  return reported ?? (status === 'succeeded' ? routeCostMicroUsd : null);
}

/** What work that a process of the gateway did itself cost at its provider; null where that is not known. */
export function costOfWork(
  catalog: Pick<Catalog, 'find' | 'reportedCostOf'>,
  { model, provider, upstreamModel }: Pick<Task, 'model' | 'provider' | 'upstreamModel'>,
  made: MadeUnits,
  figures: ProviderFigures | undefined,
): MicroUsd | null {
  const route = catalog
    .find(model)
    ?.routes.find((own) => own.provider === provider && own.upstreamModel === upstreamModel);
  const reported = reportedCostOf(catalog.reportedCostOf(provider), figures);
  return reported ?? (route && routeCostOf(route, made)) ?? null;
}
