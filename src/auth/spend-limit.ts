import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';

/** The period over which charges and open holds of a key are counted: a day or a month of UTC, or its whole life. */
export type SpendPeriod = 'day' | 'month' | 'total';

/** The most a key may spend in each period (decision G-99). */
export interface SpendLimit {
  readonly amountMicroUsd: MicroUsd;
  readonly period: SpendPeriod;
}

/** End of the period that contains `nowMs`, in UTC; undefined for a period without end. */
function endOfPeriod(period: SpendPeriod, nowMs: number): Date | undefined {
  const now = new Date(nowMs);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  if (period === 'day') return new Date(Date.UTC(year, month, day + 1));
  return period === 'month' ? new Date(Date.UTC(year, month + 1, 1)) : undefined;
}

/** The message for a caller whose key may not spend the price of the call. */
export function spendLimitMessage(limit: SpendLimit, nowMs: number): string {
  const end = endOfPeriod(limit.period, nowMs);
  const amount = `${formatMicroUsd(limit.amountMicroUsd)} micro-USD`;
  const span = end === undefined ? 'in all' : `per ${limit.period}`;
  const until = end === undefined ? '' : ` The ${limit.period} ends at ${end.toISOString()}.`;
  return `This key may spend ${amount} ${span}, and less is left.${until}`;
}
