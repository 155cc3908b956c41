import type { DataSource } from 'typeorm';
import { cursorOf, type Page } from '../common/paging/page.js';
import {
  HIGHEST_ID,
  HIGHEST_POSITION,
  LOWEST_ID,
  pageOfScan,
} from '../platform/database/keyset-pagination.js';
import { ENTRY_SOURCE, type LedgerEntry, ledgerEntryOf } from './ledger-entry.js';
import type { EntryQuery } from './ledger-requests.js';

/**
 * Entries with the name of their account, the owner of their hold, and what the lots say. The owner is read from the charge, because holds may be dropped (docs/architecture/adr/0016).
 * LIMIT keeps the planner from joining whole tables.
 */
const ENTRIES = `
  ledger_entry
  LEFT JOIN LATERAL (
    SELECT a.name AS account_name FROM account a WHERE a.id = ledger_entry.account_id LIMIT 1) holder ON true
  LEFT JOIN LATERAL (
    SELECT c.owner AS hold_owner FROM ledger_entry c
     WHERE c.account_id = ledger_entry.account_id AND c.hold_id = ledger_entry.hold_id AND c.kind = 'charge'
     LIMIT 1) held ON true${ENTRY_SOURCE('ledger_entry')}`;
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
  [
    'correctionKind',
    `CASE WHEN kind <> 'correction' THEN NULL WHEN hold_id IS NULL THEN 'adjustment'
          WHEN reference = 'reversal' AND refund_key IS NULL THEN 'reversal' ELSE 'refund' END =`,
  ],
  ['reason', 'reason ='],
  ['idempotencyKey', 'coalesce(idempotency_key, refund_key) ='],
  ['model', 'model ='],
  ['apiKeyId', 'api_key_id ='],
  ['createdAfter', 'created_at >='],
  ['createdBefore', 'created_at <'],
];

/**
 * Entries of the account, newest first, or of all accounts, one after the other. All filters must hold, and a page reads at
 * most 10,000 entries. Empty for an unknown account. Throws 400 invalid_request for an invalid cursor.
 */
export async function entriesOf(
  dataSource: DataSource,
  accountId: string | undefined,
  query: EntryQuery,
): Promise<Page<LedgerEntry>> {
  const filtersByCall = query.model !== undefined || query.apiKeyId !== undefined;
  const scan = {
    table: filtersByCall ? ENTRIES_OF_CALLS : ENTRIES,
    // Credits and corrections have an index of their own, so that charges do not hide them from a page.
    guard: excludesCharges(query) ? `kind <> 'charge'` : 'true',
    filter: query,
    comparisons: COMPARISONS,
    by: 'position',
    oldest: '0',
    ...(accountId === undefined ? edgesOfAll(query) : edgesOf(accountId, query)),
  } as const;
  return pageOfScan(dataSource, scan, query.limit, ledgerEntryOf);
}

function excludesCharges({ kind, correctionKind, reason, idempotencyKey }: EntryQuery): boolean {
  const isOther = kind !== undefined && kind !== 'charge';
  return isOther || [correctionKind, reason, idempotencyKey].some((of) => of !== undefined);
}

function edgesOf(accountId: string, query: EntryQuery) {
  const lead = [['account_id', accountId]] as const;
  return { lead, newest: cursorOf(query, 'position') ?? HIGHEST_POSITION };
}

function edgesOfAll(query: EntryQuery) {
  const [account, position] = cursorOf(query, 'uuid.position')?.split('.') ?? [];
  return {
    lead: [['account_id', account ?? HIGHEST_ID]] as const,
    newest: position ?? HIGHEST_POSITION,
    oldestLead: [LOWEST_ID],
  };
}
