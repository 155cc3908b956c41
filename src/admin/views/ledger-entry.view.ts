import { ApiProperty } from '@nestjs/swagger';
import {
  entriesAsCsv,
  KIND_COLUMNS,
  OwnLedgerEntryView,
  viewOwnEntry,
} from '../../billing/ledger/ledger-entry.view.js';
import type { LedgerEntry } from '../../billing/ledger-entry.js';
import { pageOfViews } from '../../common/paging/page.view.js';

/** One movement of an account's money, as operators see it. */
export class LedgerEntryView extends OwnLedgerEntryView {
  @ApiProperty({
    nullable: true,
    type: String,
    example: 'ticket 17',
    description: 'What an operator wrote beside it; null where nothing',
  })
  note!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'invoice-17',
    description: 'The Idempotency-Key of a credit, correction or refund; else null',
  })
  idempotency_key!: string | null;
}

/** A page of ledger entries. */
export class LedgerEntryPage extends pageOfViews(LedgerEntryView) {}

/** The entry with the operator's note and key. */
export function viewEntry(entry: LedgerEntry): LedgerEntryView {
  return {
    ...viewOwnEntry(entry),
    note: entry.reference,
    idempotency_key: entry.idempotencyKey,
  };
}

const CSV_NAMES = [
  'id',
  'created_at',
  'account_id',
  'account_name',
  'kind',
  'correction_kind',
  'amount_microusd',
  'amount_usd',
  'balance_after_microusd',
  'balance_after_usd',
  'reference',
  'note',
  'idempotency_key',
  'reason',
  ...KIND_COLUMNS,
] as const;

/** Entries as CSV. */
export const csvOfEntries = (entries: readonly LedgerEntry[]): string =>
  entriesAsCsv(entries, viewEntry, CSV_NAMES);
