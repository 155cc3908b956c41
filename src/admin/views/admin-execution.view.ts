import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import type { UnchargedQuantity } from '../../common/money/charge-basis.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { pageOfViews } from '../../common/paging/page.view.js';
import type { Execution } from '../../billing/calls/execution.js';
import { ATTEMPTS, type ProviderAttemptView, viewAttempts } from './attempt.view.js';
import {
  ExecutionView,
  TokenCountsView,
  viewExecution,
  viewQuantity,
} from '../../billing/calls/execution.view.js';

/** The provider's message about its failure. */
export class ProviderErrorView {
  @ApiProperty({
    nullable: true,
    type: Number,
    example: 400,
    description: 'HTTP status of its answer; null where no answer came',
  })
  status!: number | null;

  @ApiProperty({
    nullable: true,
    type: String,
    example: 'unsupported_value',
    description: 'Its own code of the error; null where it has none',
  })
  code!: string | null;

  @ApiProperty({ nullable: true, type: String, description: 'Redacted, at most 500 characters' })
  message!: string | null;
}

/** The provider that did the work, or was tried last, and its own name for the model. */
class RouteView {
  @ApiProperty({ example: 'elevenlabs', description: 'Id of the provider' })
  provider!: string;

  @ApiProperty({ example: 'eleven_v3', description: 'Name of the model at the provider' })
  upstream_model!: string;
}

/** What was made of a call that broke, and not charged. */
export class UnchargedView {
  @ApiProperty({
    enum: ['code_point', 'second', 'request', 'image', 'token'],
    description: 'What is counted',
  })
  unit!: string;

  @ApiProperty({
    oneOf: [{ type: 'integer' }, { $ref: getSchemaPath(TokenCountsView) }],
    description: 'How many units were generated and not charged; of a chat its tokens',
  })
  quantity!: number | TokenCountsView;
}

/** OpenAPI schema of what was made and not charged. */
export const UNCHARGED = {
  nullable: true,
  type: UnchargedView,
  description: 'Null unless an answer broke, or could not be told in the protocol of the caller',
} as const;

/** OpenAPI schema of the figures that a provider sent. */
export const PROVIDER_FIGURES = {
  nullable: true,
  type: 'object',
  additionalProperties: true,
  example: { 'usage.cost': 0.0012 },
  description: 'What the provider itself said that it cost, under its own names',
} as const;

/** OpenAPI schema of what work cost at its provider. */
export const COST_MICROUSD = {
  nullable: true,
  type: String,
  example: '350',
  description:
    "Micro-USD that it cost at the provider: the provider's own figure where the catalog says how it is read, else the cost of the route; null where neither is known. It never changes",
} as const;

/** An execution as the operator sees it: with account, key and provider. */
export class AdminExecutionView extends ExecutionView {
  @ApiProperty({ description: 'Id of the account that called' })
  account_id!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Id of the key that called; null where none is known',
  })
  api_key_id!: string | null;

  @ApiProperty({
    nullable: true,
    type: String,
    description: 'Id of the provider that was called last; null where none was called',
  })
  provider!: string | null;

  @ApiProperty({
    nullable: true,
    type: RouteView,
    description: 'The provider and its model that were called last; null where none was called',
  })
  route!: RouteView | null;

  @ApiProperty({
    nullable: true,
    type: ProviderErrorView,
    description: 'What the provider said about its failure; null if it said nothing',
  })
  provider_error!: ProviderErrorView | null;

  @ApiProperty(ATTEMPTS)
  attempts!: ProviderAttemptView[];

  @ApiProperty(PROVIDER_FIGURES)
  provider_figures!: object | null;

  @ApiProperty(COST_MICROUSD)
  cost_microusd!: string | null;

  @ApiProperty(UNCHARGED)
  uncharged!: UnchargedView | null;
}

/** A page of executions. */
export class AdminExecutionPage extends pageOfViews(AdminExecutionView) {}

/** The execution with everything that operators may see. */
export function viewAdminExecution(execution: Execution): AdminExecutionView {
  const { provider, upstreamModel, uncharged, costMicroUsd: cost } = execution;
  return {
    ...viewExecution(execution),
    account_id: toPublicId('acct', execution.accountId),
    api_key_id: execution.apiKeyId === null ? null : toPublicId('key', execution.apiKeyId),
    provider,
    route:
      provider === null || upstreamModel === null
        ? null
        : { provider, upstream_model: upstreamModel },
    provider_error: execution.providerFault,
    attempts: viewAttempts(execution),
    provider_figures: execution.providerFigures,
    cost_microusd: cost === null ? null : formatMicroUsd(cost),
    uncharged: viewUncharged(uncharged),
  };
}

/** What was made and not charged. */
export function viewUncharged(uncharged: UnchargedQuantity | null): UnchargedView | null {
  return uncharged && { unit: uncharged.unit, quantity: viewQuantity(uncharged.quantity) };
}
