import { getSchemaPath } from '@nestjs/swagger';
import type { JsonObject } from '../../common/json-object.js';
import { ExcludedBy } from '../../common/validation/cross-field-rules.js';
import {
  Custom,
  Examined,
  Bool,
  ModelId,
  Enum,
  Text,
  Int,
} from '../../common/validation/fields.js';
import { isMetadata } from '../../common/validation/metadata.js';
import {
  FrequencyPenalty,
  MAX_OUTPUT_CAP,
  NotOffered,
  OWN_LABEL,
  PresencePenalty,
  Temperature,
  TopP,
} from '../../text/text-fields.js';
import {
  isLogitBias,
  isStop,
  isStreamOptions,
  isTextOnly,
  isToolChoice,
  messagesFault,
  responseFormatFault,
  toolsFault,
} from './chat-shapes.js';
import {
  anyOfType,
  ChatCustomTool,
  ChatFunctionTool,
  ChatJsonObjectFormat,
  ChatJsonSchemaFormat,
  ChatTextFormat,
} from './chat-tools.schema.js';
import { ChatRequestMessage } from './message.schema.js';

const MAX_TOP_LOGPROBS = 20;
const optional = { optional: true } as const;

const TOOL_CHOICE = {
  type: 'object',
  additionalProperties: true,
  properties: {
    type: { type: 'string', description: 'What kind of tool it is, such as `function`' },
    function: {
      type: 'object',
      required: ['name'],
      description: 'The function that must be called',
      properties: { name: { type: 'string', description: 'Its name' } },
    },
  },
};

/** Body (API: POST /v1/chat/completions; decisions G-02, G-92). */
export class ChatBody {
  @ModelId({ example: 'gen-5-mini' })
  model!: string;

  @Examined(messagesFault, {
    description: 'The conversation in order, oldest first',
    api: { type: 'array', minItems: 1, items: { $ref: getSchemaPath(ChatRequestMessage) } },
  })
  messages!: readonly JsonObject[];

  @Bool({ default: false, description: 'Answer as server-sent events' })
  stream!: boolean;

  @Custom(isStreamOptions, 'must hold include_usage or include_obfuscation, true or false', {
    ...optional,
    description: '`include_usage` adds a last chunk with the usage; without `stream` it is ignored',
    api: {
      type: 'object',
      properties: {
        include_usage: { type: 'boolean', description: 'Whether a last chunk tells the usage' },
        include_obfuscation: {
          type: 'boolean',
          description: 'Whether chunks are padded, so that their sizes tell nothing',
        },
      },
    },
  })
  stream_options?: JsonObject;

  @Temperature({ max: 2 })
  temperature?: number;

  @TopP()
  top_p?: number;

  @ExcludedBy('max_completion_tokens')
  @Int({ min: 1, max: MAX_OUTPUT_CAP, ...optional, description: 'Caps the generated tokens' })
  max_tokens?: number;

  @Int({ min: 1, max: MAX_OUTPUT_CAP, ...optional, description: 'Another name of `max_tokens`' })
  max_completion_tokens?: number;

  @Custom(isStop, 'must be a text or an array of up to 4 texts', {
    ...optional,
    api: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, maxItems: 4 }] },
    description: 'The answer ends before any of these texts',
  })
  stop?: string | readonly string[];

  @Int({
    min: Number.MIN_SAFE_INTEGER,
    max: Number.MAX_SAFE_INTEGER,
    ...optional,
    description: 'The same seed and request give similar answers, where the model supports it',
  })
  seed?: number;

  @Int({ min: 1, max: 1, ...optional, description: 'One answer is given' })
  n?: number;

  @PresencePenalty()
  presence_penalty?: number;

  @FrequencyPenalty()
  frequency_penalty?: number;

  @Custom(isLogitBias, 'must map token ids to numbers from -100 to 100', {
    ...optional,
    api: { type: 'object', additionalProperties: { type: 'number' } },
    description:
      'By token id: how much likelier (up to 100) or less likely (down to -100) the token becomes',
  })
  logit_bias?: JsonObject;

  @Bool({
    ...optional,
    description: 'Whether the answer has the log probability of each of its tokens',
  })
  logprobs?: boolean;

  @Int({
    min: 0,
    max: MAX_TOP_LOGPROBS,
    ...optional,
    description:
      'Without `stream` an answer with log probabilities has at most 55,924 tokens, divided by 1 + `top_logprobs`',
  })
  top_logprobs?: number;

  @Examined(toolsFault, {
    ...optional,
    api: { type: 'array', items: anyOfType(ChatFunctionTool, ChatCustomTool) },
    description:
      'Functions and other tools that the model may call; you run them and send their results',
  })
  tools?: readonly JsonObject[];

  @Custom(isToolChoice, 'must be none, auto, required or an object that names a tool', {
    ...optional,
    api: { oneOf: [{ type: 'string', enum: ['none', 'auto', 'required'] }, TOOL_CHOICE] },
    description: 'Whether the model may, must or must not call a tool, or which one it must call',
  })
  tool_choice?: string | JsonObject;

  @Bool({ ...optional, description: 'Whether one answer may call several tools' })
  parallel_tool_calls?: boolean;

  @Examined(responseFormatFault, {
    ...optional,
    api: anyOfType(ChatTextFormat, ChatJsonObjectFormat, ChatJsonSchemaFormat),
    description: 'Whether the answer is plain text, any JSON object, or JSON that follows a schema',
  })
  response_format?: JsonObject;

  @Text({
    ...OWN_LABEL,
    description: 'Your own name for the person who asks, passed to the provider',
  })
  user?: string;

  @Enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'], {
    ...optional,
    description: 'How long the model thinks before it answers; thinking is billed as output tokens',
  })
  reasoning_effort?: string;

  @Enum(['low', 'medium', 'high'], { ...optional, description: 'How long the answer is to be' })
  verbosity?: string;

  @Custom(isMetadata, 'must hold at most 16 texts of at most 512 characters by name', {
    ...optional,
    api: { type: 'object', additionalProperties: { type: 'string' } },
    description: 'Labels of your own, by name',
  })
  metadata?: JsonObject;

  @Text({
    ...OWN_LABEL,
    description: 'Requests with the same key and beginning reuse what the provider has cached',
  })
  prompt_cache_key?: string;

  @Text({
    ...OWN_LABEL,
    description: 'A stable, anonymous name of the person who asks, for the provider to find misuse',
  })
  safety_identifier?: string;

  @Custom((value) => value === false, 'must be false: nothing is stored', {
    ...optional,
    api: { type: Boolean, enum: [false] },
    description: 'Answers are never stored for later retrieval, so only `false` is accepted',
  })
  store?: false;

  @Enum(['auto', 'default'], { ...optional, description: 'Names what is done anyway' })
  service_tier?: string;

  @Custom(isTextOnly, 'must be ["text"]', {
    ...optional,
    description: 'Names what is done anyway',
    api: { type: 'array', items: { type: 'string', enum: ['text'] } },
  })
  modalities?: readonly string[];

  @NotOffered()
  audio?: null;

  @NotOffered()
  function_call?: null;

  @NotOffered()
  functions?: null;

  @NotOffered()
  prediction?: null;

  @NotOffered()
  prompt_cache_retention?: null;

  @NotOffered()
  web_search_options?: null;
}
