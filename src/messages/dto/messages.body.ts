import type { JsonObject } from '../../common/json-object.js';
import { Bool, Examined, Int, ModelId, Text } from '../../common/validation/fields.js';
import { MAX_OUTPUT_CAP, NotOffered, Temperature, TopP } from '../../text/text-fields.js';
import { MessageTurn, textBlocks } from './message-blocks.schema.js';
import { turnsFault, systemFault } from './message-shapes.js';
import {
  messageToolsFault,
  metadataFault,
  outputConfigFault,
  thinkingFault,
  messageToolChoiceFault,
  cacheFault,
} from './tool-shapes.js';
import { getSchemaPath } from '@nestjs/swagger';

const MAX_STOPS = 64;
const MAX_STOP_CHARS = 1_024;
const MAX_TOP_K = 1_000_000;
const optional = { optional: true } as const;
const object = { type: 'object', additionalProperties: true } as const;

/** As SDKs send it where there is none. */
const isEmptyList = (value: unknown) => Array.isArray(value) && value.length === 0;

/** Body (API: POST /v1/messages; decision G-107). Unknown fields are left out before. */
export class MessagesBody {
  @ModelId({ example: 'gen-5-mini' })
  model!: string;

  @Examined(turnsFault, {
    description: 'The turns of the conversation in order, oldest first',
    api: { type: 'array', minItems: 1, items: { $ref: getSchemaPath(MessageTurn) } },
  })
  messages!: readonly JsonObject[];

  @Int({
    min: 1,
    max: MAX_OUTPUT_CAP,
    ...optional,
    description:
      'Caps the generated tokens, those of thinking included; without it, what the balance pays for',
  })
  max_tokens?: number;

  @Examined(systemFault, {
    ...optional,
    description: 'What the model is to do, before the conversation: a text or blocks of text',
    api: { oneOf: [{ type: 'string' }, textBlocks()] },
  })
  system?: string | readonly JsonObject[];

  @Bool({ default: false, description: 'Answer as server-sent events' })
  stream!: boolean;

  @Temperature({ max: 1 })
  temperature?: number;

  @TopP()
  top_p?: number;

  @Int({
    min: 0,
    max: MAX_TOP_K,
    ...optional,
    description:
      'Words are chosen only among so many of the likeliest, where the model can do that',
  })
  top_k?: number;

  @Text({
    max: MAX_STOP_CHARS,
    ...optional,
    list: { min: 0, max: MAX_STOPS },
    description: 'Texts at which the answer ends',
  })
  stop_sequences?: readonly string[];

  @Examined(messageToolsFault, {
    ...optional,
    api: { type: 'array', items: object },
    description:
      'Tools that the model may call, `{name, description, input_schema}`; you run them and send their results. Tools with another `type` than `custom` are refused',
  })
  tools?: readonly JsonObject[];

  @Examined(messageToolChoiceFault, {
    ...optional,
    api: object,
    description:
      '`type`: `auto`, `any`, `tool` with a `name`, or `none`; `disable_parallel_tool_use`: one call at most',
  })
  tool_choice?: JsonObject;

  @Examined(thinkingFault, {
    ...optional,
    api: object,
    description:
      '`type`: `enabled` with `budget_tokens`, `adaptive` or `disabled`; thinking is billed as output tokens',
  })
  thinking?: JsonObject;

  @Examined(outputConfigFault, {
    ...optional,
    api: object,
    description:
      '`effort`: how much the model thinks; `format`: a JSON schema that the answer follows',
  })
  output_config?: JsonObject;

  @Examined(metadataFault, {
    ...optional,
    api: object,
    description: '`user_id`: your own name for the person who asks, passed to the provider',
  })
  metadata?: JsonObject;

  @Examined(cacheFault, {
    ...optional,
    api: object,
    description: 'The vendor is to keep the whole prompt, where it can: `{type: "ephemeral", ttl}`',
  })
  cache_control?: JsonObject;

  @NotOffered('', isEmptyList)
  mcp_servers?: null;

  @NotOffered('', isEmptyList)
  container?: null;
}
