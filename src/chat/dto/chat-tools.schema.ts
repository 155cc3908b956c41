import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { JsonObject } from '../../common/json-object.js';
import type { Dto } from '../../common/validation/fields.js';

const object = { type: 'object', additionalProperties: true } as const;

/** Of the call of a tool. */
export const EXTRA_CONTENT = {
  ...object,
  description: 'What the provider wants back with the call; send it as you got it',
} as const;

/** A function that the model may call. */
class ChatFunction {
  @ApiProperty({
    example: 'get_weather',
    pattern: '^[a-zA-Z0-9_-]{1,64}$',
    description: 'Its name, by which the model calls it',
  })
  name!: string;

  @ApiPropertyOptional({ description: 'What it does, for the model' })
  description?: string;

  @ApiPropertyOptional({ ...object, description: 'JSON schema of its arguments' })
  parameters?: JsonObject;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    description: 'Whether the arguments must follow the schema exactly',
  })
  strict?: boolean | null;
}

/** A tool that is a function. */
export class ChatFunctionTool {
  @ApiProperty({ enum: ['function'], description: 'Always `function`' })
  type!: 'function';

  @ApiProperty({ description: 'The function' })
  function!: ChatFunction;
}

/** A tool whose input is text. */
class ChatCustom {
  @ApiProperty({
    pattern: '^[a-zA-Z0-9_-]{1,64}$',
    description: 'Its name, by which the model calls it',
  })
  name!: string;

  @ApiPropertyOptional({ description: 'What it does, for the model' })
  description?: string;

  @ApiPropertyOptional({
    ...object,
    description: 'The form that the text must have; any text where it is absent',
  })
  format?: JsonObject;
}

/** A tool that takes free text. */
export class ChatCustomTool {
  @ApiProperty({ enum: ['custom'], description: 'Always `custom`' })
  type!: 'custom';

  @ApiProperty({ description: 'The tool' })
  custom!: ChatCustom;
}

class CalledFunction {
  @ApiProperty({ example: 'get_weather', description: 'Name of the function' })
  name!: string;

  @ApiProperty({ description: 'JSON text, as the model wrote it', example: '{"city":"Riga"}' })
  arguments!: string;
}

/** A call of a function, made by the model. */
export class ChatFunctionCall {
  @ApiProperty({
    example: 'call_1',
    description: 'Id of the call; the message with its result names it',
  })
  id!: string;

  @ApiProperty({ enum: ['function'], description: 'Always `function`' })
  type!: 'function';

  @ApiProperty({ description: 'The function and its arguments' })
  function!: CalledFunction;

  @ApiPropertyOptional(EXTRA_CONTENT)
  extra_content?: JsonObject;
}

class CalledCustom {
  @ApiProperty({ description: 'Name of the tool' })
  name!: string;

  @ApiProperty({ description: 'The text that the model sends to the tool' })
  input!: string;
}

/** A call of a tool that takes free text. */
export class ChatCustomCall {
  @ApiProperty({
    example: 'call_1',
    description: 'Id of the call; the message with its result names it',
  })
  id!: string;

  @ApiProperty({ enum: ['custom'], description: 'Always `custom`' })
  type!: 'custom';

  @ApiProperty({ description: 'The tool and its input' })
  custom!: CalledCustom;

  @ApiPropertyOptional(EXTRA_CONTENT)
  extra_content?: JsonObject;
}

/** A response in plain text. */
export class ChatTextFormat {
  @ApiProperty({ enum: ['text'], description: 'Always `text`' })
  type!: 'text';
}

/** A response that is a JSON object. */
export class ChatJsonObjectFormat {
  @ApiProperty({ enum: ['json_object'], description: 'Always `json_object`' })
  type!: 'json_object';
}

class ChatJsonSchema {
  @ApiProperty({ example: 'capital', description: 'A name for the schema' })
  name!: string;

  @ApiPropertyOptional({ description: 'What the answer is for, for the model' })
  description?: string;

  @ApiPropertyOptional({ ...object, description: 'The JSON schema' })
  schema?: JsonObject;

  @ApiPropertyOptional({
    type: Boolean,
    nullable: true,
    description: 'Whether the answer must follow the schema exactly',
  })
  strict?: boolean | null;
}

/** A response that follows a JSON schema. */
export class ChatJsonSchemaFormat {
  @ApiProperty({ enum: ['json_schema'], description: 'Always `json_schema`' })
  type!: 'json_schema';

  @ApiProperty({ description: 'The schema and its name' })
  json_schema!: ChatJsonSchema;
}

/** One of several schemas, distinguished by `type`. */
export function anyOfType(...classes: Dto[]) {
  return { oneOf: classes.map((type) => ({ $ref: getSchemaPath(type) })) };
}

/** OpenAPI schema of the tool calls in a message. */
export const TOOL_CALLS_SCHEMA = {
  type: 'array',
  items: anyOfType(ChatFunctionCall, ChatCustomCall),
} as const;
