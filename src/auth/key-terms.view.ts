import { ApiProperty } from '@nestjs/swagger';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { toEpochSeconds } from '../common/time/clock.js';
import { toPublicId } from '../common/ids/public-id.js';
import type { ApiKeyRecord } from './api-key-record.js';
import { type Scope, SCOPES } from './scope.js';

const epochSeconds = { nullable: true, type: Number, description: 'Epoch seconds' } as const;

/** What holders and operators alike see of a key. */
export class KeyTermsView {
  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Name of the key; null where none was given',
  })
  name!: string | null;

  @ApiProperty({ description: 'The first characters of the key' })
  prefix!: string;

  @ApiProperty({ nullable: true, type: [String], description: 'Null: every model' })
  allowed_models!: readonly string[] | null;

  @ApiProperty({ nullable: true, type: Number, description: 'Null: the default of the gateway' })
  requests_per_minute!: number | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '5000000',
    description: 'Micro-USD it may spend in each period',
  })
  spend_limit_microusd!: string | null;

  @ApiProperty({ nullable: true, enum: ['day', 'month', 'total'], description: 'Of UTC' })
  spend_limit_period!: string | null;

  @ApiProperty({ enum: SCOPES, isArray: true, description: 'What the key may do' })
  scopes!: readonly Scope[];

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'The key that made it, or the successor of that key; null: an operator made it',
  })
  made_by!: string | null;

  @ApiProperty(epochSeconds)
  expires_at!: number | null;

  @ApiProperty({ ...epochSeconds, description: 'Epoch seconds, to the minute' })
  last_used_at!: number | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** The key as holders and operators alike see it. */
export function viewKeyTerms(key: ApiKeyRecord): KeyTermsView {
  const { spendLimitMicroUsd: limit } = key;
  return {
    name: key.name,
    prefix: key.prefix,
    allowed_models: key.allowedModels,
    requests_per_minute: key.requestsPerMinute,
    spend_limit_microusd: limit === null ? null : formatMicroUsd(limit),
    spend_limit_period: key.spendLimitPeriod,
    scopes: key.scopes,
    made_by: key.makerId === null ? null : toPublicId('key', key.makerId),
    expires_at: epochSecondsOf(key.expiresAt),
    last_used_at: epochSecondsOf(key.lastUsedAt),
    created_at: toEpochSeconds(key.createdAt),
  };
}

/** Epoch seconds of a date, if there is one. */
export function epochSecondsOf(date: Date | null): number | null {
  return date === null ? null : toEpochSeconds(date);
}
