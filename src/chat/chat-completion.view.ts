import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { TOOL_CALLS_SCHEMA } from './dto/chat-tools.schema.js';

const count = { type: 'integer' } as const;
const objects = {
  type: 'array',
  items: { type: 'object', additionalProperties: true },
} as const;

/**
 * Counts under their names; a provider may have more of them. The document gives those no type: of `integer`, orval makes an
 * index signature of numbers, which TypeScript refuses beside fields that may be absent.
 */
const counts = (description: string, named: Readonly<Record<string, string>>) =>
  ({
    type: 'object',
    description,
    properties: Object.fromEntries(
      Object.entries(named).map(([name, about]) => [name, { ...count, description: about }]),
    ),
    additionalProperties: true,
  }) as const;

/** The usage of a chat. */
export class ChatUsageView {
  @ApiProperty({ ...count, description: 'Tokens of the prompt, those read from a cache included' })
  prompt_tokens!: number;

  @ApiProperty({ ...count, description: 'Tokens of the answer, those of thoughts included' })
  completion_tokens!: number;

  @ApiProperty({ ...count, description: 'The sum of the two' })
  total_tokens!: number;

  @ApiPropertyOptional(
    counts('What the provider counted of the prompt, under its own names', {
      cached_tokens: 'Read from a cache of the provider',
      audio_tokens: 'Of recordings',
    }),
  )
  prompt_tokens_details?: Readonly<Record<string, number>>;

  @ApiPropertyOptional(
    counts('What the provider counted of the completion, under its own names', {
      reasoning_tokens: 'Of thoughts',
      audio_tokens: 'Of recordings',
    }),
  )
  completion_tokens_details?: Readonly<Record<string, number>>;

  @ApiProperty({ example: 0.000045, description: 'The settled charge in USD' })
  cost!: number;

  @ApiProperty({ ...count, example: 45, description: 'The settled charge in micro-USD' })
  cost_microusd!: number;
}

class CalledFunctionView {
  @ApiPropertyOptional({ description: 'Name of the function' })
  name?: string;

  @ApiPropertyOptional({ description: 'JSON text' })
  arguments?: string;
}

/** What a provider may say beside the text of a message or of a piece of it. */
export class ChatSayingView {
  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'Why the model refused, in its words; null where it did not',
  })
  refusal?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'What a model thought, where its provider shows it',
  })
  reasoning_content?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'The same in the words of other providers',
  })
  reasoning?: string | null;

  @ApiPropertyOptional({ ...objects, description: 'Thoughts in parts, as the provider sent' })
  reasoning_details?: object[];

  @ApiPropertyOptional({ ...objects, description: 'Sources, as the provider sent' })
  annotations?: object[];

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'The recording of the answer, as the provider sent it',
  })
  audio?: object;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'To be sent back with the message',
  })
  extra_content?: object;

  @ApiPropertyOptional({ description: 'Of older models' })
  function_call?: CalledFunctionView;
}

class ChatMessageView extends ChatSayingView {
  @ApiProperty({ enum: ['assistant'], description: 'Who says it' })
  role!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Null where a tool is called' })
  content!: string | null;

  @ApiPropertyOptional({ ...TOOL_CALLS_SCHEMA, description: 'The tools that the model calls' })
  tool_calls?: unknown;
}

class ChatChoiceView {
  @ApiProperty({ example: 0, description: 'Position of the choice, from 0' })
  index!: number;

  @ApiProperty({ description: 'The answer of the model' })
  message!: ChatMessageView;

  @ApiProperty({
    example: 'stop',
    description:
      'Why the answer ended: `stop`, `length`, `tool_calls`, `content_filter` or a word of the provider',
  })
  finish_reason!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    nullable: true,
    description: 'As the provider sent them',
  })
  logprobs!: object | null;
}

/** The chat completion object, for the documentation (API: Chat completion object). */
export class ChatCompletionView {
  @ApiProperty({
    example: 'chatcmpl-0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: '`chatcmpl-` and the digits of the execution; `GET /v1/executions/{id}` takes it',
  })
  id!: string;

  @ApiProperty({ enum: ['chat.completion'], description: 'Says what kind of object this is' })
  object!: 'chat.completion';

  @ApiProperty({ description: 'Epoch seconds' })
  created!: number;

  @ApiProperty({ example: 'gen-5-mini', description: 'Id of the model, as it was asked for' })
  model!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Always null' })
  system_fingerprint!: null;

  @ApiProperty({
    type: [ChatChoiceView],
    description: 'The answers; one unless `n` asked for more',
  })
  choices!: ChatChoiceView[];

  @ApiProperty({ description: 'Tokens and charge of the call' })
  usage!: ChatUsageView;
}
