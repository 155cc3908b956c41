import { dateOf, secondsIn, TimeField } from '../../billing/usage/dto/usage.query.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { DAY_SECONDS } from '../../common/time/spans.js';

const FIRST_DAY = '1970-01-01';

/** Query of GET /v1/dashboard/billing/usage. */
export class BillingUsageQuery {
  @TimeField('The first day, of UTC. Absent: from the beginning', '2026-11-01')
  start_date?: string;

  @TimeField('The day behind the last one: exclusive. Absent: all up to now', '2026-12-01')
  end_date?: string;
}

/** The first day and the one behind the last. Throws 400 `invalid_request` where no day lies between them. */
export function billingDaysOf(
  { start_date: start, end_date: end }: BillingUsageQuery,
  nowMs: number,
): readonly [from: string, to: string] {
  const tomorrow = dateOf(nowMs / 1000 + DAY_SECONDS);
  const from = start === undefined ? FIRST_DAY : dateOf(secondsIn(start) ?? 0);
  const to = end === undefined ? tomorrow : dateOf((secondsIn(end) ?? 0) + DAY_SECONDS - 1);
  if (from < to || end === undefined) return [from, to];
  const message = `No day lies between start_date (${from}) and end_date (${to}): end_date is exclusive.`;
  throw new GatewayError('invalid_request', message, { param: 'end_date' });
}
