import { ApiProperty } from '@nestjs/swagger';
import type { LedgerEntry } from '../../billing/ledger-entry.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';

/** One movement of an account's money. */
export class LedgerEntryView {
  @ApiProperty({ example: 'entry_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a' })
  id!: string;

  @ApiProperty({ enum: ['ledger_entry'] })
  object!: 'ledger_entry';

  @ApiProperty({ enum: ['credit', 'correction', 'charge'] })
  kind!: LedgerEntry['kind'];

  @ApiProperty({ example: '-600', description: 'Micro-USD; a charge is negative' })
  amount_microusd!: string;

  @ApiProperty({ example: '4999400', description: 'Micro-USD after this entry' })
  balance_after_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'The execution or task that it charged or gave back; else the note',
  })
  reference!: string | null;

  @ApiProperty({ nullable: true, type: String, example: 'goodwill' })
  note!: string | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** A page of ledger entries. */
export class LedgerEntryPage extends pageOfViews(LedgerEntryView) {}

/** The entry. Its reference is the execution or task that was charged or given back, by the owner of its hold. */
export function viewEntry(entry: LedgerEntry): LedgerEntryView {
  return {
    id: toPublicId('entry', entry.id),
    object: 'ledger_entry',
    kind: entry.kind,
    amount_microusd: formatMicroUsd(entry.amountMicroUsd),
    balance_after_microusd: formatMicroUsd(entry.balanceAfterMicroUsd),
    reference: ownerOf(entry) ?? entry.reference,
    note: entry.reference,
    created_at: toEpochSeconds(entry.createdAt),
  };
}

function ownerOf({ holdId, holdOwner }: LedgerEntry): string | null {
  if (holdId === null) return null;
  return toPublicId(holdOwner === 'task' ? 'task' : 'exec', holdId);
}
