import { ApiProperty } from '@nestjs/swagger';
import { type Holder, HOLDERS, type ListedHold } from './open-holds.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';

/** Money that a running call or an open task reserves. */
export class HoldView {
  @ApiProperty({
    example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the call or task that holds it',
  })
  id!: string;

  @ApiProperty({ enum: ['hold'], description: 'Says what kind of object this is' })
  object!: 'hold';

  @ApiProperty({ enum: HOLDERS, description: 'What holds it: a synchronous call or a task' })
  holder!: Holder;

  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Account whose money is held',
  })
  account_id!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'key_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Key of the call or task',
  })
  api_key_id!: string | null;

  @ApiProperty({ example: 'gen-5-mini', description: 'Id of the model' })
  model!: string;

  @ApiProperty({
    enum: ['running', 'queued', 'processing', 'reconciliation_required'],
    description: 'Of a call `running`; of a task its status',
  })
  status!: string;

  @ApiProperty({ nullable: true, type: String, description: 'Run in which it counts' })
  run!: string | null;

  @ApiProperty({ example: '12500', description: 'Micro-USD that are held' })
  amount_microusd!: string;

  @ApiProperty({ type: 'integer', example: 4, description: 'Seconds since it began' })
  age_seconds!: number;

  @ApiProperty({ type: 'integer', example: 1_700_000_000, description: 'Epoch seconds' })
  created_at!: number;
}

/** A page of holds. */
export class HoldPage extends pageOfViews(HoldView) {}

/** The hold with public ids. */
export function viewHold(hold: ListedHold): HoldView {
  return {
    id: toPublicId(hold.holder === 'task' ? 'task' : 'exec', hold.id),
    object: 'hold',
    holder: hold.holder,
    account_id: toPublicId('acct', hold.accountId),
    api_key_id: hold.apiKeyId === null ? null : toPublicId('key', hold.apiKeyId),
    model: hold.model,
    status: hold.status,
    run: hold.run,
    amount_microusd: formatMicroUsd(hold.amountMicroUsd),
    age_seconds: Math.floor(hold.ageSeconds),
    created_at: toEpochSeconds(hold.createdAt),
  };
}
