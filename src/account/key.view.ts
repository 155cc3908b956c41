import { ApiProperty } from '@nestjs/swagger';
import type { ApiKeyRecord } from '../auth/api-key-record.js';
import { toPublicId } from '../common/ids/public-id.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import { toEpochSeconds } from '../common/time/clock.js';

const nullable = { nullable: true, type: String } as const;
const epochSeconds = { nullable: true, type: Number, description: 'Epoch seconds' } as const;

/** What the holder of a key may know of it. */
export class KeyView {
  @ApiProperty({ enum: ['api_key'] })
  object!: 'api_key';

  @ApiProperty({ example: 'key_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a' })
  id!: string;

  @ApiProperty(nullable)
  name!: string | null;

  @ApiProperty({ description: 'The first characters of the key' })
  prefix!: string;

  @ApiProperty({ nullable: true, type: [String], description: 'Null: every model' })
  allowed_models!: readonly string[] | null;

  @ApiProperty({ nullable: true, type: Number, description: 'Null: the default of the gateway' })
  requests_per_minute!: number | null;

  @ApiProperty({ ...nullable, description: 'Micro-USD it may spend in each period' })
  spend_limit_microusd!: string | null;

  @ApiProperty({ nullable: true, enum: ['day', 'month', 'total'], description: 'Of UTC' })
  spend_limit_period!: string | null;

  @ApiProperty({
    example: '600',
    description: 'With a limit: charges and open holds of the present period; else charges in all',
  })
  spent_microusd!: string;

  @ApiProperty({ ...nullable, description: 'What the limit leaves; null without one' })
  left_microusd!: string | null;

  @ApiProperty(epochSeconds)
  expires_at!: number | null;

  @ApiProperty({ ...epochSeconds, description: 'Epoch seconds, to the minute' })
  last_used_at!: number | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** The key and what counts as spent. */
export function viewOwnKey(key: ApiKeyRecord, spent: MicroUsd): KeyView {
  const { spendLimitMicroUsd: limit } = key;
  return {
    object: 'api_key',
    id: toPublicId('key', key.id),
    name: key.name,
    prefix: key.prefix,
    allowed_models: key.allowedModels,
    requests_per_minute: key.requestsPerMinute,
    spend_limit_microusd: limit === null ? null : formatMicroUsd(limit),
    spend_limit_period: key.spendLimitPeriod,
    spent_microusd: formatMicroUsd(spent),
    left_microusd: limit === null ? null : formatMicroUsd(limit > spent ? limit - spent : 0n),
    expires_at: secondsOf(key.expiresAt),
    last_used_at: secondsOf(key.lastUsedAt),
    created_at: toEpochSeconds(key.createdAt),
  };
}

function secondsOf(date: Date | null): number | null {
  return date === null ? null : toEpochSeconds(date);
}
