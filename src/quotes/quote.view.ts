import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { apiFamilyOf } from '../catalog/operations.js';
import { inApiFamily } from '../common/errors/api-family.js';
import { bodyInApiFamily } from '../common/errors/error-body.js';
import type { GatewayError } from '../common/errors/gateway-error.js';
import { LINE_UNITS, type LineUnit } from '../common/money/price-lines.js';

/** One line of what would be held. */
export class QuoteLineView {
  @ApiProperty({ enum: LINE_UNITS, example: 'code_point', description: 'What the line counts' })
  unit!: LineUnit;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    example: 5,
    description: 'How many of them; null where the length of the recording was not told',
  })
  quantity!: number | null;

  @ApiProperty({ example: '120', description: 'Micro-USD for `per` of them, as listed' })
  unit_price_microusd!: string;

  @ApiProperty({
    type: 'integer',
    enum: [1, 1_000_000],
    example: 1,
    description: 'How many units the price is for: a million tokens, else one',
  })
  per!: number;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '600',
    description: 'Micro-USD, exact: only the sum is rounded. Null where the quantity is',
  })
  amount_microusd!: string | null;
}

/** The error that the call would get. */
export class QuoteErrorView {
  @ApiProperty({ description: 'What is wrong, for people' })
  message!: string;

  @ApiProperty({ example: 'invalid_request_error', description: 'The class of the error' })
  type!: string;

  @ApiProperty({ nullable: true, type: String, description: 'The field at fault' })
  param!: string | null;

  @ApiProperty({ example: 'invalid_request', description: 'What is wrong, for programs' })
  code!: string;

  @ApiPropertyOptional({ description: 'With 402: what the call may cost' })
  needed_microusd?: string;

  @ApiPropertyOptional({ description: 'With 402: what is available' })
  available_microusd?: string;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'With 402 of a chat: the largest output cap that fits',
  })
  max_tokens?: number;

  @ApiPropertyOptional({
    example: 'https://shop.example/top-up/acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'With 402 for want of balance: where the account gets more',
  })
  topup_url?: string;
}

/** What a request would cost or, with `error` alone, why it would be refused. */
export class QuoteView {
  @ApiProperty({ enum: ['quote'], description: 'Always `quote`' })
  object!: 'quote';

  @ApiPropertyOptional({
    example: 'quote_q1YqU7JSMjAw0FEqyVeyMjTQUUpOTy1SsrI0MgAA.Yk0…',
    description: 'Sent as `x-gateway-quote` with the same body it fixes the prices until it ends',
  })
  id?: string;

  @ApiPropertyOptional({ example: 'aud-v4', description: 'The model by its own id' })
  model?: string;

  @ApiPropertyOptional({
    nullable: true,
    type: String,
    example: '600',
    description: 'What would be held; null where the length of the recording was not told',
  })
  hold_microusd?: string | null;

  @ApiPropertyOptional({
    nullable: true,
    type: String,
    example: '600',
    description: 'What would be charged; null where only the call shows it, as for a chat',
  })
  charge_microusd?: string | null;

  @ApiPropertyOptional({
    type: [QuoteLineView],
    description: 'Of what is held, before the factor of a price book',
  })
  lines?: QuoteLineView[];

  @ApiPropertyOptional({
    type: 'integer',
    example: 900,
    description: 'Thousandths of the sum of the lines that are paid, by the price book',
  })
  factor_permille?: number;

  @ApiPropertyOptional({
    type: 'integer',
    example: 12_500,
    description: 'Of a chat: the output cap in tokens that the hold pays for',
  })
  output_cap?: number;

  @ApiPropertyOptional({
    nullable: true,
    type: Boolean,
    description: 'Whether so much is available now; null where the hold is not known',
  })
  fits?: boolean | null;

  @ApiPropertyOptional({
    example: '5000000',
    description:
      'The least of what the account, the limits of the key and that of the run leave now',
  })
  available_microusd?: string;

  @ApiPropertyOptional({
    type: [String],
    enum: ['replay', 'webhook_host', 'media', 'tokens'],
    isArray: true,
    description:
      'What the call also does, and a quote does not: find an earlier task of the same key, look up the host of the webhook, fetch and measure media, count the tokens of long texts',
  })
  unchecked?: readonly string[];

  @ApiPropertyOptional({
    example: 1_795_664_400,
    description: 'Epoch seconds until which it holds',
  })
  expires_at?: number;

  @ApiPropertyOptional({
    type: QuoteErrorView,
    description: 'The error that the call would get. Beside prices it is the 402 for want of money',
  })
  error?: QuoteErrorView;
}

/** Quotes in the order of their requests. */
export class QuoteListView {
  @ApiProperty({ enum: ['list'], description: 'Always `list`' })
  object!: 'list';

  @ApiProperty({ type: [QuoteView], description: 'One for each request' })
  data!: QuoteView[];
}

/** The error as the endpoint of the path answers it. */
export function viewError(thrown: GatewayError, path: string): QuoteErrorView {
  const family = apiFamilyOf(path);
  return bodyInApiFamily(inApiFamily(thrown, family), family).error;
}
