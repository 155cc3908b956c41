import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { anyAnswerBlock } from './message-blocks.schema.js';

const object = { type: 'object', additionalProperties: true } as const;

class CacheCreationView {
  @ApiProperty({ type: 'integer', description: 'Tokens that were written for 5 minutes' })
  ephemeral_5m_input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens that were written for an hour' })
  ephemeral_1h_input_tokens!: number;
}

/** What a message used, for the documentation. */
export class MessageUsageView {
  @ApiProperty({
    type: 'integer',
    description: 'Tokens of the prompt, without those that were read from or written to a cache',
  })
  input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens that the vendor wrote to its cache' })
  cache_creation_input_tokens!: number;

  @ApiProperty({ type: 'integer', description: 'Tokens that the vendor had cached' })
  cache_read_input_tokens!: number;

  @ApiProperty({ description: 'The written ones by the time for which they are kept' })
  cache_creation!: CacheCreationView;

  @ApiProperty({ type: 'integer', description: 'Tokens of the answer, thinking included' })
  output_tokens!: number;

  @ApiPropertyOptional({
    ...object,
    description: '`thinking_tokens`, where the provider counts them',
  })
  output_tokens_details?: object;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'Always null: no tools run here',
  })
  server_tool_use!: null;

  @ApiProperty({ type: String, nullable: true, description: 'Always null' })
  service_tier!: null;

  @ApiPropertyOptional({
    type: 'integer',
    description: 'The charge in micro-USD; in the last usage of a stream',
  })
  cost_microusd?: number;
}

/** A message, for the documentation. */
export class MessageView {
  @ApiProperty({
    example: 'msg_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'The digits are those of the execution',
  })
  id!: string;

  @ApiProperty({ enum: ['message'], description: 'Says what kind of object this is' })
  type!: 'message';

  @ApiProperty({ enum: ['assistant'], description: 'Who speaks' })
  role!: 'assistant';

  @ApiProperty({ example: 'gen-5-mini', description: 'The model as the request named it' })
  model!: string;

  @ApiProperty({
    type: 'array',
    items: anyAnswerBlock(),
    description: 'The blocks of the answer in order',
  })
  content!: unknown[];

  @ApiProperty({
    type: String,
    nullable: true,
    enum: [
      'end_turn',
      'max_tokens',
      'stop_sequence',
      'tool_use',
      'pause_turn',
      'refusal',
      'model_context_window_exceeded',
      null,
    ],
    description: 'Why the answer ended; null before its end',
  })
  stop_reason!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'The text at which it ended' })
  stop_sequence!: string | null;

  @ApiPropertyOptional({
    ...object,
    nullable: true,
    description: 'Details of a refusal, where the vendor gives them',
  })
  stop_details?: object | null;

  @ApiPropertyOptional({ ...object, nullable: true, description: 'Always null: no tools run here' })
  container?: null;

  @ApiProperty({ description: 'What the message used' })
  usage!: MessageUsageView;
}

/** An event of a stream, for the documentation. */
export class MessageEventView {
  @ApiProperty({
    example: 'content_block_delta',
    description: 'What happened; `event` has the same word',
  })
  type!: string;

  @ApiPropertyOptional({ description: 'The message at its start, without content' })
  message?: MessageView;

  @ApiPropertyOptional({ type: 'integer', description: 'Position of the block in `content`' })
  index?: number;

  @ApiPropertyOptional({ ...object, description: 'The block that begins' })
  content_block?: object;

  @ApiPropertyOptional({
    ...object,
    description: 'What comes to the block, or to the message at its end',
  })
  delta?: object;

  @ApiPropertyOptional({ description: 'At the end, with the charge' })
  usage?: MessageUsageView;

  @ApiPropertyOptional({ ...object, description: 'With the event `error`: what went wrong' })
  error?: object;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'With the event `error`: the id of the request',
  })
  request_id?: string | null;
}

/** An example of an event. */
export const MESSAGE_EVENT_EXAMPLE = {
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: 'Hello' },
};

/** The count of the tokens of a request. */
export class MessageTokensView {
  @ApiProperty({
    type: 'integer',
    description: 'Tokens of the whole conversation, counted here; the provider may count otherwise',
  })
  input_tokens!: number;
}
