import { ApiProperty } from '@nestjs/swagger';
import { pageOfViews } from '../../common/paging/page.view.js';
import { type IdPrefix, toPublicId } from '../../common/ids/public-id.js';
import { FOUND_KINDS, type FoundKind, type FoundRecord } from '../id-search.js';

/** What has the id that an operator looked for, and where it is read. */
export class FoundRecordView {
  @ApiProperty({ enum: ['found_record'], description: 'Says what kind of object this is' })
  object!: 'found_record';

  @ApiProperty({ enum: FOUND_KINDS, description: 'What it is, as its `object` says' })
  kind!: FoundKind;

  @ApiProperty({ example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a', description: 'Its own id' })
  id!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'The account that it is of; null for a price book',
  })
  account_id!: string | null;

  @ApiProperty({
    example: '/admin/executions/exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Path of the operator API that reads it',
  })
  path!: string;
}

/** What was found, all on one page. */
export class FoundRecordPage extends pageOfViews(FoundRecordView) {}

const PREFIXES: Readonly<Record<Exclude<FoundKind, 'price_book'>, IdPrefix>> = {
  account: 'acct',
  api_key: 'key',
  execution: 'exec',
  task: 'task',
  webhook_delivery: 'whd',
  webhook_endpoint: 'whe',
  ledger_entry: 'entry',
};

/** The record with the path that reads it. */
export function viewFound({ kind, id, accountId, position }: FoundRecord): FoundRecordView {
  const account = accountId === null ? null : toPublicId('acct', accountId);
  const own = kind === 'price_book' ? id : toPublicId(PREFIXES[kind], id);
  const ofAccount = `/admin/accounts/${account ?? ''}`;
  const paths: Readonly<Record<FoundKind, string>> = {
    account: `/admin/accounts/${own}`,
    api_key: `/admin/keys/${own}`,
    execution: `/admin/executions/${own}`,
    task: `/admin/tasks/${own}`,
    webhook_delivery: `/admin/webhook-deliveries/${own}`,
    webhook_endpoint: `${ofAccount}/webhook-endpoints/${own}`,
    // The page of this entry alone: a cursor is the position of the entry before.
    ledger_entry: `${ofAccount}/ledger?limit=1&cursor=${(BigInt(position ?? '0') + 1n).toString()}`,
    price_book: `/admin/price-books/${encodeURIComponent(own)}`,
  };
  return { object: 'found_record', kind, id: own, account_id: account, path: paths[kind] };
}
