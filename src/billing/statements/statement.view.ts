import { ApiOkResponse, ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { toPublicId } from '../../common/ids/public-id.js';
import { formatMicroUsd } from '../../common/money/micro-usd.js';
import { OwnLedgerEntryView, viewOwnEntry } from '../ledger/ledger-entry.view.js';
import { USAGE_UNITS, type UsageUnit } from '../usage/usage-units.js';
import type { ModelCharge, Statement } from './statement.js';
import { MAX_LISTED_ENTRIES } from './statements.js';

const listed = (what: string): ApiPropertyOptions => ({
  type: [OwnLedgerEntryView],
  description: `${what}, oldest first, at most ${MAX_LISTED_ENTRIES}; see \`omitted_entries\``,
});

const tokens = { type: 'integer', example: 0 } as const;

/** What was charged for a model in the month. */
export class ModelChargeView {
  @ApiProperty({
    nullable: true,
    type: String,
    example: 'aud-v4',
    description: 'Null: calls of which no model is known any more',
  })
  model!: string | null;

  @ApiProperty({ type: 'integer', description: 'Calls and tasks that succeeded' })
  calls!: number;

  @ApiProperty({
    ...tokens,
    description: 'Tokens of whole prompts; 0 where nothing is sold by token',
  })
  input_tokens!: number;

  @ApiProperty({ ...tokens, description: 'Of them, cached ones' })
  cached_tokens!: number;

  @ApiProperty({ ...tokens, description: 'Tokens of outputs' })
  output_tokens!: number;

  @ApiProperty({ ...tokens, description: 'Of them, those of reasoning' })
  reasoning_tokens!: number;

  @ApiProperty({
    nullable: true,
    type: Number,
    description: 'As `unit` says; null where the model has several units',
  })
  quantity!: number | null;

  @ApiProperty({
    nullable: true,
    type: String,
    enum: USAGE_UNITS,
    description: 'Of the quantity; null where there is none',
  })
  unit!: UsageUnit | null;

  @ApiProperty({ example: '600', description: 'Micro-USD' })
  amount_microusd!: string;
}

/** The statement of a month of an account. */
export class StatementView {
  @ApiProperty({ enum: ['statement'], description: 'Says what kind of object this is' })
  object!: 'statement';

  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a-2026-11',
    description: 'The account and the month',
  })
  number!: string;

  @ApiProperty({
    example: 'acct_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the account',
  })
  account_id!: string;

  @ApiProperty({ required: false, description: 'Name of the account, for operators' })
  account_name?: string;

  @ApiProperty({ example: '2026-11', description: 'Of UTC' })
  month!: string;

  @ApiProperty({
    enum: ['open', 'closed'],
    description:
      'closed: the month is over and everything of it is counted, some seconds after its end. A closed statement never changes',
  })
  status!: 'open' | 'closed';

  @ApiProperty({ enum: ['USD'], description: 'Of all amounts, which are micro-USD' })
  currency!: 'USD';

  @ApiProperty({ example: '1000000', description: 'Micro-USD before the first entry of the month' })
  opening_microusd!: string;

  @ApiProperty({ example: '5000000', description: 'Micro-USD credited' })
  credits_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '950000',
    description: 'Micro-USD of tax that the credits tell; null where none does',
  })
  tax_microusd!: string | null;

  @ApiProperty({ example: '-500', description: 'Micro-USD set right by operators; signed' })
  corrections_microusd!: string;

  @ApiProperty({ example: '1200', description: 'Micro-USD charged for calls and tasks' })
  charges_microusd!: string;

  @ApiProperty({
    example: '600',
    description: 'Micro-USD given back of charges, of this month or of earlier ones',
  })
  refunds_microusd!: string;

  @ApiProperty({ example: '0', description: 'Micro-USD of credits that expired' })
  expired_microusd!: string;

  @ApiProperty({
    example: '5998900',
    description:
      'opening + credits + corrections - charges + refunds - expired; of the running month, the balance now',
  })
  closing_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '0',
    description:
      'What calls and tasks under way held then, as a part of the closing balance; null for months before it was counted',
  })
  held_microusd!: string | null;

  @ApiProperty({ type: [ModelChargeView], description: 'Together they are `charges_microusd`' })
  charges!: ModelChargeView[];

  @ApiProperty(listed('The credits'))
  credits!: OwnLedgerEntryView[];

  @ApiProperty(listed('The corrections'))
  corrections!: OwnLedgerEntryView[];

  @ApiProperty(listed('What was given back'))
  refunds!: OwnLedgerEntryView[];

  @ApiProperty(listed('What was left of credits at their ends'))
  expiries!: OwnLedgerEntryView[];

  @ApiProperty({
    type: 'integer',
    example: 0,
    description: 'Entries that the lists leave out; the sums count them, and the ledger has them',
  })
  omitted_entries!: number;
}

/** OpenAPI: a statement, or CSV or HTML. Those are named beside the content types, as `PageOrCsv` does. */
export function StatementResponse(): MethodDecorator {
  const response = { type: StatementView, 'x-other-types': ['text/csv', 'text/html'] };
  return ApiOkResponse(response);
}

/** In the document: how a statement is asked. */
export const STATEMENT_DESCRIPTION =
  'By the time of posting, in UTC: opening + credits + corrections - charges + refunds - expired = closing. A month that is over never changes: a later refund stands in its own month. `format=csv` answers lines whose amounts add up to the closing balance, `format=html` a page to print.';

/** The number of a statement: `<account>-<month>`. */
export const statementNumber = ({ accountId, month }: Statement): string =>
  `${toPublicId('acct', accountId)}-${month}`;

/** The statement as its holder sees it, or with the name of the account as operators do. */
export function viewStatement(statement: Statement, isOperator: boolean): StatementView {
  const { credits, corrections, refunds, expiries, heldMicroUsd } = statement;
  const lists = [credits, corrections, refunds, expiries];
  return {
    object: 'statement',
    number: statementNumber(statement),
    account_id: toPublicId('acct', statement.accountId),
    ...(isOperator && { account_name: statement.accountName }),
    month: statement.month,
    status: statement.isClosed ? 'closed' : 'open',
    currency: 'USD',
    opening_microusd: formatMicroUsd(statement.openingMicroUsd),
    credits_microusd: formatMicroUsd(credits.totalMicroUsd),
    tax_microusd: statement.taxMicroUsd === null ? null : formatMicroUsd(statement.taxMicroUsd),
    corrections_microusd: formatMicroUsd(corrections.totalMicroUsd),
    charges_microusd: formatMicroUsd(statement.chargesMicroUsd),
    refunds_microusd: formatMicroUsd(refunds.totalMicroUsd),
    expired_microusd: formatMicroUsd(-expiries.totalMicroUsd),
    closing_microusd: formatMicroUsd(statement.closingMicroUsd),
    held_microusd: heldMicroUsd === null ? null : formatMicroUsd(heldMicroUsd),
    charges: statement.charges.map(viewCharge),
    credits: credits.entries.map(viewOwnEntry),
    corrections: corrections.entries.map(viewOwnEntry),
    refunds: refunds.entries.map(viewOwnEntry),
    expiries: expiries.entries.map(viewOwnEntry),
    omitted_entries: lists.reduce((sum, { count, entries }) => sum + count - entries.length, 0),
  };
}

function viewCharge({ model, calls, tokens, quantity, unit, amountMicroUsd }: ModelCharge) {
  return {
    model,
    calls,
    ...tokens,
    quantity,
    unit,
    amount_microusd: formatMicroUsd(amountMicroUsd),
  };
}
