import { type ReportedCost, reportedCostOf } from '../catalog/reported-cost.js';
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
