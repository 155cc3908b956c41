import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { cursorOf, type Page, pageOf } from '../../common/paging/page.js';
import type { AccountQuery } from '../ledger-requests.js';
import { BURN_OF_ACCOUNT, BURNS } from './account-burn.js';
import { type Account, accountOf, type AccountRow } from './account.js';

/** An account with what it spent lately. */
export interface ListedAccount extends Account {
  /** Over the days of `BURN_DAYS`. */
  readonly burnMicroUsdPerDay: MicroUsd;
}

interface ListedRow extends AccountRow {
  readonly burn: string;
}

interface Order {
  readonly with: string;
  readonly joins: string;
  /** Which accounts come after the account of the cursor ($1). */
  readonly after: string;
  readonly by: string;
}

const plain = (after: string, by: string, joins = ''): Order => ({ with: '', joins, after, by });
const ORDERS: Readonly<Record<NonNullable<AccountQuery['sort']> | 'newest', Order>> = {
  newest: plain('a.id < $1', 'a.id DESC'),
  available: plain(
    '(posted - held, a.id) > (SELECT c.posted - c.held, c.id FROM account c WHERE c.id = $1)',
    'posted - held, a.id',
  ),
  spent: plain(
    '(coalesce(u.charged, 0), a.id) < (coalesce((SELECT c.charged FROM usage_account c WHERE c.account_id = $1), 0), $1)',
    'coalesce(u.charged, 0) DESC, a.id DESC',
    'LEFT JOIN usage_account u ON u.account_id = a.id',
  ),
  burn: {
    with: `WITH ${BURNS}`,
    joins: 'JOIN burning o ON o.id = a.id',
    after: '(o.burn, a.id) < (SELECT c.burn, c.id FROM burning c WHERE c.id = $1)',
    by: 'o.burn DESC, a.id DESC',
  },
};

/**
 * Accounts, newest first unless `sort` says otherwise. `namePrefix` filters by the beginning of the name, case-insensitively.
 * What an account spent is read for the accounts of the page alone, unless it is the order. Throws 400 `invalid_request` for an
 * invalid cursor.
 */
export async function listAccounts(
  dataSource: DataSource,
  { namePrefix = '', availableBelow, sort, ...page }: AccountQuery,
): Promise<Page<ListedAccount>> {
  const pattern = `${namePrefix.replaceAll(/[\\%_]/g, '\\$&')}%`;
  const named = namePrefix === '' ? '$2::text IS NOT NULL' : 'lower(name) LIKE lower($2)';
  const order = ORDERS[sort ?? 'newest'];
  const rows = await dataSource.query<ListedRow[]>(
    `${order.with}
     SELECT a.*, ${BURN_OF_ACCOUNT} AS burn FROM (
       SELECT a.*, row_number() OVER (ORDER BY ${order.by}) AS place FROM account a ${order.joins}
        WHERE ($1::uuid IS NULL OR ${order.after}) AND ${named} AND ($3::bigint IS NULL OR posted - held < $3)
        ORDER BY ${order.by} LIMIT $4) a
      ORDER BY a.place`,
    [cursorOf(page, 'uuid'), pattern, availableBelow?.toString() ?? null, page.limit + 1],
  );
  return pageOf(rows, page.limit, listedOf, (row) => row.id);
}

const listedOf = (row: ListedRow): ListedAccount => ({
  ...accountOf(row),
  burnMicroUsdPerDay: BigInt(row.burn),
});
