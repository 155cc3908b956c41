import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import { usdText } from '../../common/money/usd-text.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { millisecondsOf, type UsageRow } from './usage-reports.js';
import { NIL_UUID } from './usage-request.js';
import { USAGE_UNITS, type UsageUnit } from './usage-units.js';

const latency = {
  nullable: true,
  type: 'integer',
  description: 'Milliseconds, within 5 %',
} as const;

const refunded = { example: '0' } as const;

/** The usage of one group of calls. Only the requested dimensions are present. */
export class UsageView {
  @ApiProperty({ enum: ['usage'], description: 'Says what kind of object this is' })
  object!: 'usage';

  @ApiProperty({ required: false, example: '2026-01-31', description: 'Of UTC' })
  day?: string;

  @ApiProperty({
    required: false,
    example: '2026-01-31T14:00:00Z',
    description: 'When the hour begins, of UTC; where usage is grouped by `hour`',
  })
  hour?: string;

  @ApiProperty({
    required: false,
    example: 'aud-v4',
    description: 'Id of the model; where usage is grouped by `model`',
  })
  model?: string;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    description: 'Id of the key; where usage is grouped by `key`. Null where no key called',
  })
  api_key_id?: string | null;

  @ApiProperty({
    required: false,
    example: '/v1/audio/speech',
    description: 'Path of the operation; where usage is grouped by `endpoint`',
  })
  endpoint?: string;

  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    description: 'Where usage is grouped by `run`. Null: calls of no run',
  })
  run?: string | null;

  @ApiProperty({
    required: false,
    description: 'Id of the account; where usage is grouped by `account`',
  })
  account_id?: string;

  @ApiProperty({ type: 'integer', description: 'Calls and tasks that ended' })
  calls!: number;

  @ApiProperty({ type: 'integer', description: 'Those of them that failed' })
  failures!: number;

  @ApiProperty({
    nullable: true,
    type: Number,
    description:
      'Code points, seconds, images, tokens or tasks, as `unit` says; null where the group has several units. Groups by account or key alone have null: add `model` or `endpoint`',
  })
  quantity!: number | null;

  @ApiProperty({
    nullable: true,
    type: String,
    enum: USAGE_UNITS,
    description:
      'Of the quantity: `task` for songs, videos and dubs, each of which counts as one, whatever its price counts. Null where there is none',
  })
  unit!: UsageUnit | null;

  @ApiProperty({
    type: 'integer',
    description: 'Tokens of the prompts of chats, cached ones included; 0 for anything else',
  })
  input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Those of them that the provider had cached' })
  cached_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens of the answers of chats' })
  output_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Those of them that were reasoning' })
  reasoning_tokens!: number;

  @ApiProperty({ example: '600', description: 'Micro-USD charged less what was given back' })
  charged_microusd!: string;

  @ApiProperty({ example: '0.0006', description: 'The same in USD' })
  charged_usd!: string;

  @ApiProperty({
    example: '0',
    description: 'Micro-USD given back in this time; charged_microusd has them taken off already',
  })
  refunded_microusd!: string;

  @ApiProperty({ example: '0.00', description: 'The same in USD' })
  refunded_usd!: string;

  @ApiProperty({ ...refunded, description: 'Of it with the reason `goodwill`' })
  refunded_goodwill_microusd!: string;

  @ApiProperty({ ...refunded, description: 'Of it with the reason `fault`' })
  refunded_fault_microusd!: string;

  @ApiProperty({ ...refunded, description: 'Of it with the reason `billing_error`' })
  refunded_billing_error_microusd!: string;

  @ApiProperty(latency)
  latency_p50_ms!: number | null;

  @ApiProperty(latency)
  latency_p99_ms!: number | null;
}

/** The days or hours that a page covers. */
export class CoveredDays {
  @ApiProperty({
    example: '2026-01-01',
    description: 'The first day, of UTC; by hour the time at which the first hour begins',
  })
  from!: string;

  @ApiProperty({
    example: '2026-02-01',
    description: 'The day or hour behind the last one: exclusive',
  })
  to!: string;

  @ApiProperty({ example: '2026-01-31', description: 'The last day' })
  last_day!: string;
}

/** A page of usage. */
export class UsagePage extends IntersectionType(pageOfViews(UsageView), CoveredDays) {}

/** What a group is of. */
export function viewGroup(row: UsageRow): Omit<Partial<UsageView>, 'object'> {
  const { day, hour, model, endpoint, run, api_key_id: key, account_id: account } = row;
  return {
    ...(day !== undefined && { day }),
    ...(hour !== undefined && { hour }),
    ...(model !== undefined && { model }),
    ...(key !== undefined && { api_key_id: key === NIL_UUID ? null : toPublicId('key', key) }),
    ...(endpoint !== undefined && { endpoint }),
    ...(run !== undefined && { run: run === '' ? null : run }),
    ...(account !== undefined && { account_id: toPublicId('acct', account) }),
  };
}

/** The group as the holder of a key sees it. */
export function viewUsage(row: UsageRow): UsageView {
  return {
    object: 'usage',
    ...viewGroup(row),
    calls: Number(row.calls),
    failures: Number(row.failures),
    quantity: row.quantity === null ? null : Number(row.quantity),
    unit: row.unit,
    input_tokens: Number(row.input_tokens),
    cached_tokens: Number(row.cached_tokens),
    output_tokens: Number(row.output_tokens),
    reasoning_tokens: Number(row.reasoning_tokens),
    charged_microusd: row.charged,
    charged_usd: usdText(BigInt(row.charged)),
    refunded_microusd: row.refunded,
    refunded_usd: usdText(BigInt(row.refunded)),
    refunded_goodwill_microusd: row.refunded_goodwill,
    refunded_fault_microusd: row.refunded_fault,
    refunded_billing_error_microusd: row.refunded_billing_error,
    latency_p50_ms: millisecondsOf(row.p50_bucket),
    latency_p99_ms: millisecondsOf(row.p99_bucket),
  };
}

/** In the document: how usage is asked as CSV. */
export const CSV_DESCRIPTION =
  '`format=csv` answers the same names and values as CSV, its cursor in `x-gateway-next-cursor`.';
