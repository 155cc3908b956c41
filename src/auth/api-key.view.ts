import { ApiProperty } from '@nestjs/swagger';
import type { ApiKeyRecord } from './api-key-record.js';
import type { IssuedKey } from './api-keys.service.js';
import { epochSecondsOf, KeyTermsView, viewKeyTerms } from './key-terms.view.js';
import { toPublicId } from '../common/ids/public-id.js';
import { pageOfViews } from '../common/paging/page.view.js';

/** An API key without its secret. */
export class ApiKeyView extends KeyTermsView {
  @ApiProperty({ example: 'key_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a', description: 'Id of the key' })
  id!: string;

  @ApiProperty({ enum: ['api_key'], description: 'Says what kind of object this is' })
  object!: 'api_key';

  @ApiProperty({ description: 'Id of the account that the key belongs to' })
  account_id!: string;

  @ApiProperty({ nullable: true, type: Number, description: 'Epoch seconds' })
  revoked_at!: number | null;
}

/** A page of API keys. */
export class ApiKeyPage extends pageOfViews(ApiKeyView) {}

/** A new API key, with its secret. */
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
    ...viewKeyTerms(key),
    revoked_at: epochSecondsOf(key.revokedAt),
  };
}

/** The key with its secret. */
export function viewIssuedKey({ key, record }: IssuedKey): IssuedKeyView {
  return { ...viewKey(record), key };
}
