import type { DataSource } from 'typeorm';
import { cursorOf, type Page } from '../common/paging/page.js';
import { pageOfScan } from '../platform/database/keyset-pagination.js';
import { type LedgerEntry, ledgerEntryOf } from './ledger-entry.js';
import type { EntryQuery } from './ledger-requests.js';

/** The largest bigint: above every position. */
const NO_POSITION = '9223372036854775807';

/**
 * Entries with the owner of their hold. The owner is read from the charge, because holds may be dropped (docs/architecture/adr/0016).
 * LIMIT keeps the planner from joining whole tables.
 */
const ENTRIES = `
  ledger_entry
  LEFT JOIN LATERAL (
    SELECT c.owner AS hold_owner FROM ledger_entry c
     WHERE c.account_id = ledger_entry.account_id AND c.hold_id = ledger_entry.hold_id AND c.kind = 'charge'
     LIMIT 1) held ON true`;
/** The same with the model and key of the call or task, as long as its record exists. */
const ENTRIES_OF_CALLS = `${ENTRIES}
  LEFT JOIN LATERAL (
    SELECT c.model, c.api_key_id FROM execution c
     WHERE c.account_id = ledger_entry.account_id AND c.id = hold_id
    UNION ALL
    SELECT t.model, t.api_key_id FROM task t
     WHERE t.account_id = ledger_entry.account_id AND t.id = hold_id LIMIT 1) call ON true`;

const COMPARISONS: readonly (readonly [keyof EntryQuery, string])[] = [
  ['kind', 'kind ='],
  ['model', 'model ='],
  ['apiKeyId', 'api_key_id ='],
  ['createdAfter', 'created_at >='],
  ['createdBefore', 'created_at <'],
];

/**
 * Entries of the account, newest first; all filters must hold, and a page reads at most 10,000 entries. Empty for an
 * unknown account. Throws 400 invalid_request for an invalid cursor.
 */
export async function entriesOf(
  dataSource: DataSource,
  accountId: string,
  query: EntryQuery,
): Promise<Page<LedgerEntry>> {
  const filtersByCall = query.model !== undefined || query.apiKeyId !== undefined;
  const excludesCharges = query.kind !== undefined && query.kind !== 'charge';
  const scan = {
    table: filtersByCall ? ENTRIES_OF_CALLS : ENTRIES,
    // Credits and corrections have an index of their own, so that charges do not hide them from a page.
    guard: excludesCharges ? `kind <> 'charge'` : 'true',
    filter: query,
    comparisons: COMPARISONS,
    lead: [['account_id', accountId]],
    by: 'position',
    newest: cursorOf(query, 'position') ?? NO_POSITION,
    oldest: '0',
  } as const;
  return pageOfScan(dataSource, scan, query.limit, ledgerEntryOf);
}
