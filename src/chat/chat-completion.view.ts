import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { TOOL_CALLS_SCHEMA } from './dto/chat-tools.schema.js';

const count = { type: 'integer' } as const;

class ChatUsageView {
  @ApiProperty(count)
  prompt_tokens!: number;

  @ApiProperty(count)
  completion_tokens!: number;

  @ApiProperty({ ...count, description: 'The sum of the two' })
  total_tokens!: number;

  @ApiProperty({ example: 0.000045, description: 'The settled charge in USD' })
  cost!: number;

  @ApiProperty({ ...count, example: 45, description: 'The settled charge in micro-USD' })
  cost_microusd!: number;
}

class ChatMessageView {
  @ApiProperty({ enum: ['assistant'] })
  role!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Null where a tool is called' })
  content!: string | null;

  @ApiPropertyOptional({ type: String, nullable: true })
  refusal?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'What a model thought, where its provider shows it',
  })
  reasoning_content?: string | null;

  @ApiPropertyOptional({ ...TOOL_CALLS_SCHEMA, description: 'The tools that the model calls' })
  tool_calls?: unknown;
}

class ChatChoiceView {
  @ApiProperty({ example: 0 })
  index!: number;

  @ApiProperty()
  message!: ChatMessageView;

  @ApiProperty({ example: 'stop' })
  finish_reason!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true })
  logprobs!: object | null;
}

/** The chat completion object, for the documentation (API: Chat completion object). */
export class ChatCompletionView {
  @ApiProperty({
    example: 'chatcmpl-0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: '`chatcmpl-` and the digits of the execution; `GET /v1/executions/{id}` takes it',
  })
  id!: string;

  @ApiProperty({ enum: ['chat.completion'] })
  object!: 'chat.completion';

  @ApiProperty({ description: 'Epoch seconds' })
  created!: number;

  @ApiProperty({ example: 'gen-5-mini' })
  model!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Always null' })
  system_fingerprint!: null;

  @ApiProperty({ type: [ChatChoiceView] })
  choices!: ChatChoiceView[];

  @ApiProperty()
  usage!: ChatUsageView;
}

/** An example of the event stream, for the documentation. */
export const STREAM_EXAMPLE = [
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795132800,"model":"gen-5-mini",' +
    '"choices":[{"index":0,"delta":{"role":"assistant","content":"Hello"},"finish_reason":null}]}',
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795132800,"model":"gen-5-mini",' +
    '"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
  'data: [DONE]',
  '',
].join('\n\n');
