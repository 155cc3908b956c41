import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { ResponseView } from './response.view.js';

const object = { type: 'object', additionalProperties: true } as const;

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
