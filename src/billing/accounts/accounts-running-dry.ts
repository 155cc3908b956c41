import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { BURNS } from './account-burn.js';

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

const RUNNING_DRY = `
  WITH ${BURNS}
  SELECT a.id, a.name, a.posted - a.held AS available, o.burn, count(*) OVER ()::int AS count
    FROM account a JOIN burning o ON o.id = a.id
   WHERE NOT a.disabled AND o.burn > 0 AND a.posted - a.held < o.burn * $1::int
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
