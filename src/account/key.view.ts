import { ApiProperty } from '@nestjs/swagger';
import type { ApiKeyRecord } from '../auth/api-key-record.js';
import { KeyTermsView, viewKeyTerms } from '../auth/key-terms.view.js';
import { toPublicId } from '../common/ids/public-id.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';

/** What the holder of a key may know of it. */
export class KeyView extends KeyTermsView {
  @ApiProperty({ enum: ['api_key'], description: 'Says what kind of object this is' })
  object!: 'api_key';

  @ApiProperty({ example: 'key_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a', description: 'Id of the key' })
  id!: string;

  @ApiProperty({
    example: '600',
    description: 'With a limit: charges and open holds of the present period; else charges in all',
  })
  spent_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'The least that its limit and that of its maker leave; null without one',
  })
  left_microusd!: string | null;
}

/** What a limit leaves. It may have been set below what was spent before. */
export const leftOf = (limit: MicroUsd, spent: MicroUsd): MicroUsd =>
  limit > spent ? limit - spent : 0n;

/** The key and what counts as spent. `makerLeft` is what the limit of its maker leaves, null without one. */
export function viewOwnKey(
  key: ApiKeyRecord,
  spent: MicroUsd,
  makerLeft: MicroUsd | null,
): KeyView {
  const { spendLimitMicroUsd: limit } = key;
  const ownLeft = limit === null ? null : leftOf(limit, spent);
  const isOwn = makerLeft === null || (ownLeft !== null && ownLeft < makerLeft);
  const left = isOwn ? ownLeft : makerLeft;
  return {
    object: 'api_key',
    id: toPublicId('key', key.id),
    ...viewKeyTerms(key),
    spent_microusd: formatMicroUsd(spent),
    left_microusd: left === null ? null : formatMicroUsd(left),
  };
}
