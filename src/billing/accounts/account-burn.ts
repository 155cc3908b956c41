import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';

/**
 * Days of UTC, today among them, whose charges are averaged. The burn of an account is what was charged in them less what was
 * given back, per day that the account existed.
 */
export const BURN_DAYS = 7;
/** The account of the sums of all accounts. */
const ALL_ACCOUNTS = '00000000-0000-0000-0000-000000000000';

const TODAY = `(now() AT TIME ZONE 'UTC')::date`;
/** SQL: the days whose charges are averaged for account `a`: a young one has fewer. */
export const BURNING_DAYS = `least(${BURN_DAYS}, greatest(1, ${TODAY} - (a.created_at AT TIME ZONE 'UTC')::date + 1))`;
/** SQL: the first of those days. */
export const FIRST_BURN_DAY = `(${TODAY} - ${BURN_DAYS - 1})`;
/** The part of an account's charges that falls on a day, rounded down. */
const perDay = (charged: string) =>
  `(greatest(0, coalesce(${charged}, 0))::bigint / ${BURNING_DAYS})`;
/** SQL: the burn of account `a`. */
export const BURN_OF_ACCOUNT = perDay(
  `(SELECT sum(d.charged) FROM usage_day d WHERE d.account_id = a.id AND d.day >= ${FIRST_BURN_DAY})`,
);
/** The same of every account at once, as the table `burning` (`id`, `burn`) of a statement's WITH. The index of the days finds it. */
export const BURNS = `burns AS MATERIALIZED (
    SELECT account_id, sum(charged) AS charged FROM usage_day
     WHERE day >= ${FIRST_BURN_DAY} AND account_id <> '${ALL_ACCOUNTS}' GROUP BY 1
  ), burning AS (
    SELECT a.id, ${perDay('b.charged')} AS burn FROM account a LEFT JOIN burns b ON b.account_id = a.id)`;

/** The burn of one account, in micro-USD per day; 0 for an unknown one. */
export async function readBurn(dataSource: DataSource, accountId: string): Promise<MicroUsd> {
  const [row] = await dataSource.query<{ burn: string }[]>(
    `SELECT ${BURN_OF_ACCOUNT} AS burn FROM account a WHERE a.id = $1`,
    [accountId],
  );
  return BigInt(row?.burn ?? 0);
}
