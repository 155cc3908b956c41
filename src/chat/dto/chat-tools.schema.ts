import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { JsonObject } from '../../common/json-object.js';
import type { Dto } from '../../common/validation/fields.js';

const object = { type: 'object', additionalProperties: true } as const;

/** A function that the model may call. */
class ChatFunction {
  @ApiProperty({ example: 'get_weather', pattern: '^[a-zA-Z0-9_-]{1,64}$' })
  name!: string;

  @ApiPropertyOptional({ description: 'What it does, for the model' })
  description?: string;

  @ApiPropertyOptional({ ...object, description: 'JSON schema of its arguments' })
  parameters?: JsonObject;

  @ApiPropertyOptional({ type: Boolean, nullable: true })
  strict?: boolean | null;
}

/** A tool that is a function. */
export class ChatFunctionTool {
  @ApiProperty({ enum: ['function'] })
  type!: 'function';

  @ApiProperty()
  function!: ChatFunction;
}

/** A tool whose input is text. */
class ChatCustom {
  @ApiProperty({ pattern: '^[a-zA-Z0-9_-]{1,64}$' })
  name!: string;

  @ApiPropertyOptional()
  description?: string;

  @ApiPropertyOptional(object)
  format?: JsonObject;
}

/** A tool that takes free text. */
export class ChatCustomTool {
  @ApiProperty({ enum: ['custom'] })
  type!: 'custom';

  @ApiProperty()
  custom!: ChatCustom;
}

class CalledFunction {
  @ApiProperty({ example: 'get_weather' })
  name!: string;

  @ApiProperty({ description: 'JSON text, as the model wrote it', example: '{"city":"Riga"}' })
  arguments!: string;
}

/** A call of a function, made by the model. */
export class ChatFunctionCall {
  @ApiProperty({ example: 'call_1' })
  id!: string;

  @ApiProperty({ enum: ['function'] })
  type!: 'function';

  @ApiProperty()
  function!: CalledFunction;
}

class CalledCustom {
  @ApiProperty()
  name!: string;

  @ApiProperty()
  input!: string;
}

/** A call of a tool that takes free text. */
export class ChatCustomCall {
  @ApiProperty({ example: 'call_1' })
  id!: string;

  @ApiProperty({ enum: ['custom'] })
  type!: 'custom';

  @ApiProperty()
  custom!: CalledCustom;
}

/** A response in plain text. */
export class ChatTextFormat {
  @ApiProperty({ enum: ['text'] })
  type!: 'text';
}

/** A response that is a JSON object. */
export class ChatJsonObjectFormat {
  @ApiProperty({ enum: ['json_object'] })
  type!: 'json_object';
}

class ChatJsonSchema {
  @ApiProperty({ example: 'capital' })
  name!: string;

  @ApiPropertyOptional()
  description?: string;

  @ApiPropertyOptional({ ...object, description: 'The JSON schema' })
  schema?: JsonObject;

  @ApiPropertyOptional({ type: Boolean, nullable: true })
  strict?: boolean | null;
}

/** A response that follows a JSON schema. */
export class ChatJsonSchemaFormat {
  @ApiProperty({ enum: ['json_schema'] })
  type!: 'json_schema';

  @ApiProperty()
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
