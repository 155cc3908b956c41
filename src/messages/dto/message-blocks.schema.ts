import { ApiProperty, ApiPropertyOptional, getSchemaPath } from '@nestjs/swagger';
import type { Dto } from '../../common/validation/fields.js';

const reference = (type: Dto) => ({ $ref: getSchemaPath(type) });
const anyOf = (...classes: Dto[]) => ({ anyOf: classes.map(reference) });
const always = (word: string) => ({ enum: [word], description: `Always \`${word}\`` });
const object = { type: 'object', additionalProperties: true } as const;
const CACHE = {
  ...object,
  description: 'The vendor is to keep the prompt up to here: `{type: "ephemeral", ttl: "5m"}`',
};

class MessageText {
  @ApiProperty(always('text'))
  type!: 'text';

  @ApiProperty({ description: 'The text' })
  text!: string;

  @ApiPropertyOptional(CACHE)
  cache_control?: object;

  @ApiPropertyOptional({
    type: 'array',
    items: object,
    nullable: true,
    description: 'Sources of a text of an answer, where the vendor names them',
  })
  citations?: object[] | null;
}

class MessageImage {
  @ApiProperty(always('image'))
  type!: 'image';

  @ApiProperty({
    ...object,
    description: '`{type: "base64", media_type, data}` or `{type: "url", url}`',
  })
  source!: object;
}

class MessageDocument {
  @ApiProperty(always('document'))
  type!: 'document';

  @ApiProperty({
    ...object,
    description: '`{type: "text", media_type, data}` or `{type: "content", content}`',
  })
  source!: object;

  @ApiPropertyOptional({ nullable: true, type: String, description: 'Its title' })
  title?: string | null;
}

class MessageToolUse {
  @ApiProperty(always('tool_use'))
  type!: 'tool_use';

  @ApiProperty({ example: 'call_1', description: 'Id of the call; its result names it' })
  id!: string;

  @ApiProperty({ example: 'get_weather', description: 'Name of the tool' })
  name!: string;

  @ApiProperty({ ...object, example: { city: 'Riga' }, description: 'What the tool gets' })
  input!: object;
}

class MessageToolResult {
  @ApiProperty(always('tool_result'))
  type!: 'tool_result';

  @ApiProperty({ example: 'call_1', description: 'Id of the call' })
  tool_use_id!: string;

  @ApiPropertyOptional({
    description: 'What the tool answered: a text or blocks of text and images',
    oneOf: [{ type: 'string' }, { type: 'array', items: anyOf(MessageText, MessageImage) }],
  })
  content?: unknown;

  @ApiPropertyOptional({ description: 'Whether the tool failed' })
  is_error?: boolean;
}

class MessageThinking {
  @ApiProperty(always('thinking'))
  type!: 'thinking';

  @ApiProperty({ description: 'What the model thought' })
  thinking!: string;

  @ApiProperty({ description: "The vendor's signature; empty where the vendor has none" })
  signature!: string;
}

class MessageRedactedThinking {
  @ApiProperty(always('redacted_thinking'))
  type!: 'redacted_thinking';

  @ApiProperty({ description: 'Thoughts that only the vendor can read' })
  data!: string;
}

/** What a vendor of this protocol may add to its answers, and gets back. */
class MessageOtherBlock {
  @ApiProperty({
    pattern: '^[a-z][a-z0-9_]{0,63}$',
    example: 'compaction',
    description: 'A type that is not known here',
  })
  type!: string;
}

const ANSWERED = [
  ...[MessageText, MessageThinking, MessageRedactedThinking, MessageToolUse, MessageOtherBlock],
];
const SENT = [...ANSWERED, MessageImage, MessageDocument, MessageToolResult];

/** One turn of the conversation. */
export class MessageTurn {
  @ApiProperty({ enum: ['user', 'assistant', 'system'], description: 'Who speaks' })
  role!: string;

  @ApiProperty({
    description: 'A text or blocks',
    oneOf: [{ type: 'string' }, { type: 'array', items: anyOf(...SENT) }],
  })
  content!: unknown;
}

/** The schemas that bodies and answers refer to. */
export const MESSAGE_SCHEMAS = [...SENT, MessageTurn];

/** OpenAPI schema of blocks of text. */
export const textBlocks = () => ({ type: 'array', items: reference(MessageText) });
/** OpenAPI schema of a block of an answer. */
export const anyAnswerBlock = () => anyOf(...ANSWERED);
