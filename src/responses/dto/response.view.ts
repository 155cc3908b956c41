import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ResponseBillingView, ResponseUsageView } from './response-usage.view.js';
import { anyOutputItem } from './response-items.schema.js';

const object = { type: 'object', additionalProperties: true } as const;
const echo = (description: string) => ({ description: `${description}, as the request has it` });
const orNull = <T>(type: T, description: string) => ({ type, nullable: true, description });
const shownText = (what: string) => orNull(String, `${what}, as the request has it`);

class ResponseErrorView {
  @ApiProperty({ example: 'server_error', description: 'What went wrong, for programs' })
  code!: string;

  @ApiProperty({ description: 'What went wrong, for people' })
  message!: string;
}

/** A response (API: Response object), for the documentation; `responseObject` makes it. */
export class ResponseView {
  @ApiProperty({
    example: 'resp_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id: `resp_` and the digits of the execution',
  })
  id!: string;

  @ApiProperty({ enum: ['response'], description: 'Says what kind of object this is' })
  object!: 'response';

  @ApiProperty({ type: 'integer', description: 'Epoch seconds' })
  created_at!: number;

  @ApiProperty(orNull('integer', 'Epoch seconds; null before the end'))
  completed_at!: number | null;

  @ApiProperty({
    enum: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'],
    description: 'How far it is',
  })
  status!: string;

  @ApiProperty({ description: 'Whether it is made while nobody waits' })
  background!: boolean;

  @ApiProperty({ nullable: true, type: ResponseErrorView, description: 'Why it failed' })
  error!: ResponseErrorView | null;

  @ApiProperty({
    ...object,
    nullable: true,
    description: 'Why it is incomplete: `reason` is `max_output_tokens` or `content_filter`',
  })
  incomplete_details!: object | null;

  @ApiProperty({ example: 'gen-5-mini', description: 'Id of the model, as it was asked for' })
  model!: string;

  @ApiProperty({
    type: 'array',
    items: anyOutputItem(),
    description: 'The answer: reasoning, messages and calls of tools in their order',
  })
  output!: unknown[];

  @ApiProperty(shownText('The response before it'))
  previous_response_id!: string | null;

  @ApiProperty(shownText('The instructions'))
  instructions!: string | null;

  @ApiProperty(orNull('integer', 'The output cap, as the request has it'))
  max_output_tokens!: number | null;

  @ApiProperty(orNull('integer', 'As the request has it'))
  max_tool_calls!: number | null;

  @ApiProperty({ ...object, description: 'Your labels' })
  metadata!: object;

  @ApiProperty(echo('Whether one answer may call several tools'))
  parallel_tool_calls!: boolean;

  @ApiProperty(echo('The temperature'))
  temperature!: number;

  @ApiProperty(echo('`top_p`'))
  top_p!: number;

  @ApiProperty({ type: 'integer', ...echo('`top_logprobs`') })
  top_logprobs!: number;

  @ApiProperty(echo('The penalty'))
  presence_penalty!: number;

  @ApiProperty(echo('The penalty'))
  frequency_penalty!: number;

  @ApiProperty({ type: 'array', items: object, description: 'The tools that the model had' })
  tools!: object[];

  @ApiProperty({ oneOf: [{ type: 'string' }, object], ...echo('How free the model was to call') })
  tool_choice!: unknown;

  @ApiProperty({ ...object, ...echo('The form of the answer') })
  text!: object;

  @ApiProperty({ ...object, nullable: true, description: 'The effort, as the request has it' })
  reasoning!: object | null;

  @ApiProperty(echo('The truncation'))
  truncation!: string;

  @ApiProperty({ description: 'Always `default`' })
  service_tier!: string;

  @ApiProperty(shownText('The person who asked'))
  user!: string | null;

  @ApiProperty(shownText('The person who asked'))
  safety_identifier!: string | null;

  @ApiProperty(shownText('The key of the prompt cache'))
  prompt_cache_key!: string | null;

  @ApiProperty(shownText('How long the provider caches'))
  prompt_cache_retention!: string | null;

  @ApiProperty({ description: 'Whether it is stored: then it can be read and continued' })
  store!: boolean;

  @ApiProperty({
    nullable: true,
    type: ResponseUsageView,
    description: 'Tokens and charge; null before the end, and of a response that failed',
  })
  usage!: ResponseUsageView | null;

  @ApiPropertyOptional({
    description: 'The charge; absent before the end, and where nothing is charged',
  })
  billing?: ResponseBillingView;
}

/** The result of the task of a response that is made in the background, for the documentation. */
export class ResponseTaskResultView {
  @ApiProperty({
    example: 'resp_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
    description: 'Id of the response: it has the digits of the task, and is read at its own path',
  })
  response_id!: string;

  @ApiProperty({
    enum: ['completed', 'incomplete', 'cancelled', 'failed'],
    description:
      'How it ended. `cancelled`: what was made until then is charged. `failed`: the answer was too large to be stored, and is charged',
  })
  status!: string;
}
