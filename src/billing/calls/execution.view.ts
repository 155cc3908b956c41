import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { LINES, type PriceLineView, viewLines } from '../../common/money/price-line.view.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import type {
  AppliedPriceBook,
  ChargeBasis,
  TokenCounts,
  TokenPrices,
} from '../../common/money/charge-basis.js';
import type { Execution } from './execution.js';

const nullable = { nullable: true, type: String } as const;

/** Tokens of one chat. */
export class TokenCountsView {
  @ApiProperty({
    type: 'integer',
    description: 'Tokens of the prompt, those read from a cache included',
  })
  prompt_tokens!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description:
      'Tokens of the prompt that were read from a cache; null where the provider does not tell',
  })
  cached_tokens!: number | null;

  @ApiProperty({ type: 'integer', description: 'Tokens of the answer, those of thoughts included' })
  completion_tokens!: number;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Tokens of the answer that are thoughts; null where the provider does not tell',
  })
  reasoning_tokens!: number | null;
}

/** Prices of one million tokens in micro-USD. */
export class TokenPricesView {
  @ApiProperty({
    example: '1250000',
    description: 'Micro-USD per million prompt tokens, as `price.input_per_million` of the model',
  })
  input_per_million!: string;

  @ApiProperty({
    example: '10000000',
    description:
      'Micro-USD per million completion tokens, as `price.output_per_million` of the model',
  })
  output_per_million!: string;
}

/** What happened to one synchronous call (API: GET /v1/executions). */
@ApiExtraModels(TokenCountsView, TokenPricesView)
export class ExecutionView {
  @ApiProperty({
    example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the call, as in `x-gateway-execution-id`',
  })
  id!: string;

  @ApiProperty({ enum: ['execution'], description: 'Says what kind of object this is' })
  object!: 'execution';

  @ApiProperty({ enum: ['running', 'succeeded', 'failed'], description: 'State of the call' })
  status!: string;

  @ApiProperty({ example: 'aud-v4', description: 'Id of the model' })
  model!: string;

  @ApiProperty({
    example: '/v1/audio/speech',
    description: 'Path of the operation that was called',
  })
  endpoint!: string;

  @ApiProperty({ ...nullable, description: 'Code of the error the caller got' })
  error_code!: string | null;

  @ApiProperty({ ...nullable, example: '600', description: 'Null until the call succeeded' })
  charged_microusd!: string | null;

  @ApiProperty({ ...nullable, description: 'What an operator gave back of the charge' })
  refunded_microusd!: string | null;

  @ApiProperty({
    example: '600',
    description: 'Held before the call; what was not charged was freed',
  })
  held_microusd!: string;

  @ApiProperty({
    ...nullable,
    enum: ['code_point', 'second', 'request', 'image', 'token'],
    description: 'What is counted; null where the charge is not known yet',
  })
  unit!: string | null;

  @ApiProperty({
    oneOf: [{ type: 'integer', nullable: true }, { $ref: getSchemaPath(TokenCountsView) }],
    example: 5,
    description: 'How many units were charged; `lines` has what each kind of them costs',
  })
  quantity!: number | TokenCountsView | null;

  @ApiProperty({
    oneOf: [{ type: 'string', nullable: true }, { $ref: getSchemaPath(TokenPricesView) }],
    description:
      'Micro-USD per unit, as `price.amount_microusd` of the model; of a chat, per million tokens',
    example: '120',
  })
  unit_price_microusd!: string | TokenPricesView | null;

  @ApiProperty(LINES)
  lines!: PriceLineView[] | null;

  @ApiProperty({
    nullable: true,
    type: Boolean,
    description: 'Whether the quantity is an estimate',
  })
  estimated!: boolean | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'partners',
    description: 'The price book by which it was priced; null: the listed prices',
  })
  price_book!: string | null;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    example: 900,
    description:
      'Thousandths of quantity times unit price that are paid by the book, rounded up once to whole micro-USD',
  })
  factor_permille!: number | null;

  @ApiProperty({
    description: 'Whether the price was above the hold, so that only the hold was charged',
  })
  capped!: boolean;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    description:
      'The output cap in tokens that the gateway chose; null where the request named one',
  })
  output_cap!: number | null;

  @ApiProperty({
    ...nullable,
    enum: ['balance', 'key', 'run', 'model'],
    description:
      'What bound that cap: the balance, the limit of the key or of the run, or the model',
  })
  output_cap_reason!: string | null;

  @ApiProperty({ ...nullable, description: 'The run in which the call counts; null: in none' })
  run!: string | null;

  @ApiProperty({ nullable: true, type: 'integer', description: 'Milliseconds to the first byte' })
  first_byte_ms!: number | null;

  @ApiProperty({ nullable: true, type: 'integer', description: 'Milliseconds in all' })
  duration_ms!: number | null;

  @ApiProperty({ ...nullable, description: "The provider's own id of the call" })
  provider_request_id!: string | null;

  @ApiProperty({ ...nullable, description: 'As sent in `X-Client-Request-Id`' })
  client_request_id!: string | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;

  @ApiProperty({ nullable: true, type: Number, description: 'Epoch seconds' })
  completed_at!: number | null;
}

/** A page of executions. */
export class ExecutionPage extends pageOfViews(ExecutionView) {}

/** An execution as its account may see it: without the provider. */
export function viewExecution(execution: Execution): ExecutionView {
  const { chargedMicroUsd, refundedMicroUsd, completedAt } = execution;
  return {
    id: toPublicId('exec', execution.id),
    object: 'execution',
    status: execution.status,
    model: execution.model,
    endpoint: execution.endpoint,
    error_code: execution.errorCode,
    charged_microusd: chargedMicroUsd === null ? null : formatMicroUsd(chargedMicroUsd),
    refunded_microusd: refundedMicroUsd === null ? null : formatMicroUsd(refundedMicroUsd),
    held_microusd: formatMicroUsd(execution.heldMicroUsd),
    ...viewBasis(execution.basis),
    ...viewPriceBookOf(execution),
    capped: execution.isCapped,
    output_cap: execution.outputCap,
    output_cap_reason: execution.outputCap === null ? null : execution.outputCapReason,
    first_byte_ms: execution.firstByteMs,
    duration_ms: execution.durationMs,
    provider_request_id: execution.providerRequestId,
    run: execution.run,
    client_request_id: execution.clientRequestId,
    created_at: toEpochSeconds(execution.createdAt),
    completed_at: completedAt === null ? null : toEpochSeconds(completedAt),
  };
}

/** The price book of a call or task. */
export function viewPriceBookOf({ priceBook }: { readonly priceBook: AppliedPriceBook | null }) {
  return { price_book: priceBook?.id ?? null, factor_permille: priceBook?.factorPermille ?? null };
}

/** A quantity in the units of its model. */
export function viewQuantity(quantity: ChargeBasis['quantity']): number | TokenCountsView {
  return typeof quantity === 'object' ? viewTokenCounts(quantity) : quantity;
}

/** How a charge was computed. */
export function viewBasis(basis: ChargeBasis | null) {
  const { unit = null, quantity = null, unitPrice = null, isEstimated = null } = basis ?? {};
  return {
    unit,
    quantity: quantity === null ? null : viewQuantity(quantity),
    unit_price_microusd:
      typeof unitPrice === 'object' ? unitPrice && viewTokenPrices(unitPrice) : unitPrice,
    lines: viewLines(basis),
    estimated: isEstimated,
  };
}

function viewTokenCounts(counts: TokenCounts): TokenCountsView {
  return {
    prompt_tokens: counts.promptTokens,
    cached_tokens: counts.cachedTokens,
    completion_tokens: counts.completionTokens,
    reasoning_tokens: counts.reasoningTokens,
  };
}

function viewTokenPrices(prices: TokenPrices): TokenPricesView {
  return {
    input_per_million: prices.inputPerMillion,
    output_per_million: prices.outputPerMillion,
  };
}
