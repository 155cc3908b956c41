import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { BURN_OF_ACCOUNT, BURNING_DAYS, FIRST_BURN_DAY } from './account-burn.js';

/** An account whose money will soon be spent. */
export interface AccountRunningDry {
  readonly id: string;
  readonly name: string;
  readonly availableMicroUsd: MicroUsd;
  readonly burnMicroUsdPerDay: MicroUsd;
}

/** How many accounts run dry, and those that do so first. */
export interface AccountsRunningDry {
  readonly count: number;
  readonly first: readonly AccountRunningDry[];
}

interface DryRow {
  readonly id: string;
  readonly name: string;
  readonly available: string;
  readonly burn: string;
  readonly count: number;
}

const SINCE = `date_trunc('month', ${FIRST_BURN_DAY}::timestamp)::date`;
// What was charged in the months, refunds not taken off, is at least what was charged in the days. So few accounts are left, and
// only their days are read.
const RUNNING_DRY = `
  WITH months AS MATERIALIZED (
    SELECT account_id, sum(charged) AS charged FROM usage_month WHERE month >= ${SINCE} GROUP BY 1
  ), refunds AS MATERIALIZED (
    SELECT account_id, sum(amount) AS amount FROM usage_refund WHERE day >= ${SINCE} GROUP BY 1
  ), candidate AS MATERIALIZED (
    SELECT a.* FROM account a JOIN months m ON m.account_id = a.id LEFT JOIN refunds r ON r.account_id = a.id
     WHERE NOT a.disabled AND (a.posted - a.held) * ${BURNING_DAYS} < (m.charged + coalesce(r.amount, 0)) * $1::int
  )
  SELECT a.id, a.name, a.posted - a.held AS available, o.burn, count(*) OVER ()::int AS count
    FROM candidate a CROSS JOIN LATERAL (SELECT ${BURN_OF_ACCOUNT} AS burn) o
   WHERE o.burn > 0 AND a.posted - a.held < o.burn * $1::int
   ORDER BY (a.posted - a.held)::numeric / o.burn, a.id LIMIT $2`;

/** The enabled accounts that spend what is available within `days`, if they go on as in the last days. At most `limit` are named. */
export async function findAccountsRunningDry(
  dataSource: DataSource,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<AccountsRunningDry> {
  const rows = await dataSource.query<DryRow[]>(RUNNING_DRY, [days, limit]);
  return {
    count: rows[0]?.count ?? 0,
    first: rows.map(({ id, name, available, burn }) => ({
      id,
      name,
      availableMicroUsd: BigInt(available),
      burnMicroUsdPerDay: BigInt(burn),
    })),
  };
}
