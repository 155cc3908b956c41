import { ApiProperty } from '@nestjs/swagger';
import type { ApiKeyRecord } from '../../auth/api-key-record.js';
import type { IssuedKey } from '../../auth/api-keys.service.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';

const epochSeconds = { nullable: true, type: Number, description: 'Epoch seconds' } as const;

/** An API key without its secret. */
export class ApiKeyView {
  @ApiProperty({ example: 'key_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a' })
  id!: string;

  @ApiProperty({ enum: ['api_key'] })
  object!: 'api_key';

  @ApiProperty()
  account_id!: string;

  @ApiProperty({ nullable: true, type: String })
  name!: string | null;

  @ApiProperty({ description: 'The first characters of the key' })
  prefix!: string;

  @ApiProperty({ nullable: true, type: [String], description: 'Null: every model' })
  allowed_models!: readonly string[] | null;

  @ApiProperty({ nullable: true, type: Number, description: 'Null: the default of the gateway' })
  requests_per_minute!: number | null;

  @ApiProperty({ nullable: true, type: String, example: '5000000', description: 'Micro-USD' })
  spend_limit_microusd!: string | null;

  @ApiProperty({ nullable: true, enum: ['day', 'month', 'total'], description: 'Of UTC' })
  spend_limit_period!: string | null;

  @ApiProperty(epochSeconds)
  expires_at!: number | null;

  @ApiProperty(epochSeconds)
  revoked_at!: number | null;

  @ApiProperty({ ...epochSeconds, description: 'Epoch seconds, to the minute' })
  last_used_at!: number | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;
}

/** A page of API keys. */
export class ApiKeyPage extends pageOfViews(ApiKeyView) {}

/** An API key as it is handed out. */
export class IssuedKeyView extends ApiKeyView {
  @ApiProperty({ description: 'The key; shown only here' })
  key!: string;
}

/** The key without its secret. */
export function viewKey(key: ApiKeyRecord): ApiKeyView {
  return {
    id: toPublicId('key', key.id),
    object: 'api_key',
    account_id: toPublicId('acct', key.accountId),
    name: key.name,
    prefix: key.prefix,
    allowed_models: key.allowedModels,
    requests_per_minute: key.requestsPerMinute,
    spend_limit_microusd:
      key.spendLimitMicroUsd === null ? null : formatMicroUsd(key.spendLimitMicroUsd),
    spend_limit_period: key.spendLimitPeriod,
    expires_at: secondsOf(key.expiresAt),
    revoked_at: secondsOf(key.revokedAt),
    last_used_at: secondsOf(key.lastUsedAt),
    created_at: toEpochSeconds(key.createdAt),
  };
}

/** The key with its secret. */
export function viewIssuedKey({ key, record }: IssuedKey): IssuedKeyView {
  return { ...viewKey(record), key };
}

function secondsOf(date: Date | null): number | null {
  return date === null ? null : toEpochSeconds(date);
}
