import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ResponseBillingView, ResponseUsageView } from './response-usage.view.js';
import { anyListedItem, anyOutputItem } from './response-items.schema.js';

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

/** One event of a stream (API: Events of a response), for the documentation. */
export class ResponseEventView {
  @ApiProperty({ example: 'response.output_text.delta', description: 'What happened' })
  type!: string;

  @ApiProperty({ type: 'integer', description: 'From 0, one more with each event' })
  sequence_number!: number;

  @ApiPropertyOptional({ description: 'The response, at its start and at its end' })
  response?: ResponseView;

  @ApiPropertyOptional({ ...object, description: 'The item that begins or ends' })
  item?: object;

  @ApiPropertyOptional({ description: 'The item to which the event belongs' })
  item_id?: string;

  @ApiPropertyOptional({ type: 'integer', description: 'Position of the item in `output`' })
  output_index?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Position of the part in the item' })
  content_index?: number;

  @ApiPropertyOptional({ type: 'integer', description: 'Position of the part in the summary' })
  summary_index?: number;

  @ApiPropertyOptional({ ...object, description: 'What a piece of the text refers to' })
  annotation?: object;

  @ApiPropertyOptional({ type: 'integer', description: 'Position of the annotation in the part' })
  annotation_index?: number;

  @ApiPropertyOptional({ description: 'The next piece of a text or of the arguments of a call' })
  delta?: string;

  @ApiPropertyOptional({ ...object, description: 'The part that begins or ends' })
  part?: object;

  @ApiPropertyOptional({ description: 'The whole text of a part that ends' })
  text?: string;

  @ApiPropertyOptional({ description: 'The whole refusal of a part that ends' })
  refusal?: string;

  @ApiPropertyOptional({ description: 'The whole arguments of a call that ends' })
  arguments?: string;

  @ApiPropertyOptional({ description: 'The whole input of a custom call that ends' })
  input?: string;

  @ApiPropertyOptional({ description: 'The name of the tool that is called' })
  name?: string;

  @ApiPropertyOptional({
    type: 'array',
    items: object,
    description: 'Log probabilities of a piece of text, where they were asked for',
  })
  logprobs?: object[];

  @ApiPropertyOptional({ description: 'With the event `error`: what went wrong, for programs' })
  code?: string;

  @ApiPropertyOptional({ description: 'With the event `error`: the same in words' })
  message?: string;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description: 'With the event `error`: the field at fault',
  })
  param?: string | null;

  @ApiPropertyOptional({ ...object, description: 'With the event `error`: the same in one object' })
  error?: object;
}

/** An example of an event. */
export const EVENT_EXAMPLE = {
  type: 'response.output_text.delta',
  sequence_number: 4,
  item_id: 'msg_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a',
  output_index: 0,
  content_index: 0,
  delta: 'Hello',
  logprobs: [],
};

/** The answer to a deletion. */
export class DeletedResponseView {
  @ApiProperty({ description: 'Id of the response' })
  id!: string;

  @ApiProperty({ enum: ['response.deleted'], description: 'Says what happened' })
  object!: 'response.deleted';

  @ApiProperty({ description: 'Always true' })
  deleted!: boolean;
}

/** A page of the items of a conversation. */
export class InputItemsView {
  @ApiProperty({ enum: ['list'], description: 'Says what kind of object this is' })
  object!: 'list';

  @ApiProperty({ type: 'array', items: anyListedItem(), description: 'The items' })
  data!: unknown[];

  @ApiProperty(orNull(String, 'Id of the first item of the page'))
  first_id!: string | null;

  @ApiProperty(orNull(String, 'Id of the last item of the page'))
  last_id!: string | null;

  @ApiProperty({ description: 'Whether more items follow' })
  has_more!: boolean;
}

/** The count of the tokens of a request. */
export class InputTokensView {
  @ApiProperty({ enum: ['response.input_tokens'], description: 'Says what was counted' })
  object!: 'response.input_tokens';

  @ApiProperty({
    type: 'integer',
    description: 'Tokens of the whole conversation, counted here; the provider may count otherwise',
  })
  input_tokens!: number;
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
