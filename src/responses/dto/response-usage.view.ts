import { ApiProperty } from '@nestjs/swagger';

class InputTokensDetailsView {
  @ApiProperty({ type: 'integer', description: 'Tokens that the provider had cached' })
  cached_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens that the provider wrote to its cache' })
  cache_write_tokens!: number;
}

class OutputTokensDetailsView {
  @ApiProperty({ type: 'integer', description: 'Tokens of reasoning' })
  reasoning_tokens!: number;
}

/** What a response used, for the documentation. */
export class ResponseUsageView {
  @ApiProperty({
    type: 'integer',
    description: 'Tokens of the whole conversation before the answer',
  })
  input_tokens!: number;

  @ApiProperty({ description: 'Parts of them' })
  input_tokens_details!: InputTokensDetailsView;

  @ApiProperty({ type: 'integer', description: 'Tokens of the answer, reasoning included' })
  output_tokens!: number;

  @ApiProperty({ description: 'Parts of them' })
  output_tokens_details!: OutputTokensDetailsView;

  @ApiProperty({ type: 'integer', description: 'The sum' })
  total_tokens!: number;

  @ApiProperty({ example: 0.000142, description: 'The charge in USD' })
  cost!: number;

  @ApiProperty({ type: 'integer', example: 142, description: 'The charge in micro-USD' })
  cost_microusd!: number;
}

/** What a response cost, for the documentation. */
export class ResponseBillingView {
  @ApiProperty({ example: '142', description: 'The charge in micro-USD' })
  charged_microusd!: string;

  @ApiProperty({ example: '12500', description: 'What was held until the end, in micro-USD' })
  held_microusd!: string;

  @ApiProperty({
    example: 'exec_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'The record of the call; the id of the task where it is made in the background',
  })
  execution_id!: string;
}
