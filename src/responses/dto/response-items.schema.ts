import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { Dto } from '../../common/validation/fields.js';

const anyOf = (...classes: Dto[]) => ({
  anyOf: classes.map((type) => ({ $ref: getSchemaPath(type) })),
});
const always = (word: string) => ({ enum: [word], description: `Always \`${word}\`` });

class ResponseInputText {
  @ApiProperty(always('input_text'))
  type!: 'input_text';

  @ApiProperty({ description: 'The text' })
  text!: string;
}

class ResponseInputImage {
  @ApiProperty(always('input_image'))
  type!: 'input_image';

  @ApiProperty({ description: 'http or https URL, or data URL of an image' })
  image_url!: string;

  @ApiPropertyOptional({
    nullable: true,
    type: String,
    enum: ['auto', 'low', 'high', 'original', null],
    description: 'How closely the model looks; more detail costs more input tokens',
  })
  detail?: string | null;
}

class ResponseOutputText {
  @ApiProperty(always('output_text'))
  type!: 'output_text';

  @ApiProperty({ description: 'The text' })
  text!: string;

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'What the text refers to, where a vendor of this protocol says so; else empty',
  })
  annotations?: object[];

  @ApiPropertyOptional({
    type: 'array',
    items: { type: 'object', additionalProperties: true },
    description: 'The log probabilities of the tokens, if `include` asks for them',
  })
  logprobs?: object[];
}

class ResponseRefusal {
  @ApiProperty(always('refusal'))
  type!: 'refusal';

  @ApiProperty({ description: 'The words with which the model declined' })
  refusal!: string;
}

const PARTS = [ResponseInputText, ResponseInputImage, ResponseOutputText, ResponseRefusal];
const ID = { description: 'Id of the item', example: 'msg_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a' };
const STATUS = {
  enum: ['in_progress', 'completed', 'incomplete'],
  description: 'Whether the item is whole',
};
const CALL_ID = { example: 'call_1', description: 'Id of the call; its result names it' };

class ResponseMessage {
  @ApiPropertyOptional(ID)
  id?: string;

  @ApiPropertyOptional({ ...always('message'), description: '`message`, which may be left out' })
  type?: string;

  @ApiProperty({ enum: ['user', 'assistant', 'system', 'developer'], description: 'Who speaks' })
  role!: string;

  @ApiPropertyOptional(STATUS)
  status?: string;

  @ApiPropertyOptional({
    enum: ['commentary', 'final_answer'],
    description: 'What a message of the model is for, where its vendor says so',
  })
  phase?: string;

  @ApiProperty({
    description: 'A text or parts',
    oneOf: [{ type: 'string' }, { type: 'array', items: anyOf(...PARTS) }],
  })
  content!: unknown;
}

class ResponseFunctionCall {
  @ApiPropertyOptional(ID)
  id?: string;

  @ApiProperty(always('function_call'))
  type!: 'function_call';

  @ApiPropertyOptional(STATUS)
  status?: string;

  @ApiProperty(CALL_ID)
  call_id!: string;

  @ApiProperty({ example: 'get_weather', description: 'Name of the function' })
  name!: string;

  @ApiProperty({ example: '{"city":"Riga"}', description: 'JSON text, as the model wrote it' })
  arguments!: string;
}

class ResponseCustomCall {
  @ApiPropertyOptional(ID)
  id?: string;

  @ApiProperty(always('custom_tool_call'))
  type!: 'custom_tool_call';

  @ApiPropertyOptional(STATUS)
  status?: string;

  @ApiProperty(CALL_ID)
  call_id!: string;

  @ApiProperty({ description: 'Name of the tool' })
  name!: string;

  @ApiProperty({ description: 'The text that the model sends to the tool' })
  input!: string;
}

class ResponseCallOutput {
  @ApiPropertyOptional(ID)
  id?: string;

  @ApiProperty({
    enum: ['function_call_output', 'custom_tool_call_output'],
    description: 'Whether a function or a custom tool was called',
  })
  type!: string;

  @ApiPropertyOptional(STATUS)
  status?: string;

  @ApiProperty(CALL_ID)
  call_id!: string;

  @ApiProperty({
    description: 'What the tool answered: a text or parts',
    oneOf: [{ type: 'string' }, { type: 'array', items: anyOf(...PARTS) }],
  })
  output!: unknown;
}

class ResponseReasoningText {
  @ApiProperty({ enum: ['reasoning_text', 'summary_text'], description: 'Kind of the text' })
  type!: string;

  @ApiProperty({ description: 'The text' })
  text!: string;
}

class ResponseReasoning {
  @ApiPropertyOptional(ID)
  id?: string;

  @ApiProperty(always('reasoning'))
  type!: 'reasoning';

  @ApiPropertyOptional(STATUS)
  status?: string;

  @ApiProperty({
    type: [ResponseReasoningText],
    description: 'What the vendor shows of a thought in short, if it speaks this protocol',
  })
  summary!: ResponseReasoningText[];

  @ApiPropertyOptional({
    type: [ResponseReasoningText],
    description: 'What the model thought, where it is shown',
  })
  content?: ResponseReasoningText[];

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    description:
      'With `include: ["reasoning.encrypted_content"]`: the vendor\'s own form, sealed. Send the item back, and the model goes on from there',
  })
  encrypted_content?: string | null;
}

class ResponseItemReference {
  @ApiPropertyOptional({ nullable: true, ...always('item_reference') })
  type?: string | null;

  @ApiProperty({ ...ID, description: 'Id of a stored item' })
  id!: string;
}

/** An item of a type that only the vendor knows, which speaks this protocol. */
const OTHER = {
  type: 'object',
  additionalProperties: true,
  required: ['id', 'type', 'status'],
  properties: {
    id: { type: 'string', ...ID },
    type: {
      type: 'string',
      pattern: '^(?!message$|reasoning$|function_call|custom_tool_call|item_reference$)',
      description: 'A type that only the vendor of the model knows',
    },
    status: { type: 'string', ...STATUS },
  },
};

/** The items that responses have. */
const OUTPUT = [ResponseMessage, ResponseReasoning, ResponseFunctionCall, ResponseCustomCall];
const LISTED = [...OUTPUT, ResponseCallOutput];
const SENT = [...LISTED, ResponseItemReference];

/** The schemas that bodies and responses refer to. */
export const RESPONSE_SCHEMAS = [...PARTS, ...SENT];

/** OpenAPI schema of an item of an input. */
export const anyItem = () => anyOf(...SENT);
/** OpenAPI schema of an item of an answer. */
export const anyOutputItem = () => orOther(OUTPUT);
/** OpenAPI schema of an item of a stored conversation. */
export const anyListedItem = () => orOther(LISTED);

function orOther(known: readonly Dto[]) {
  return { anyOf: [...anyOf(...known).anyOf, OTHER] };
}
