import type { JsonObject } from '../../common/json-object.js';
import { isMetadata } from '../../common/validation/metadata.js';
import {
  Bool,
  Custom,
  Enum,
  Examined,
  Int,
  ModelId,
  Text,
} from '../../common/validation/fields.js';
import { ExcludedBy, Needs } from '../../common/validation/cross-field-rules.js';
import {
  FrequencyPenalty,
  MAX_OUTPUT_CAP,
  NotOffered,
  OWN_LABEL,
  PresencePenalty,
  Temperature,
  TopP,
} from '../../text/text-fields.js';
import { TextWebhook, TextWebhookSecret } from '../../webhooks/webhook-fields.js';
import { inputFault } from '../input/item-shapes.js';
import { anyItem } from './response-items.schema.js';
import {
  contextManagementFault,
  INCLUDES,
  reasoningFault,
  textOptionsFault,
  toolChoiceFault,
  responseToolsFault,
} from './response-shapes.js';

const MAX_TOOL_CALLS = 100_000_000;
const MAX_INSTRUCTIONS = 4_194_304;
const optional = { optional: true } as const;
const object = { type: 'object', additionalProperties: true } as const;

/** Body (API: POST /v1/responses; decisions G-107, G-108). Unknown fields are left out before. */
export class ResponsesBody {
  @ModelId({ example: 'gen-5-mini' })
  model!: string;

  @Examined(inputFault, {
    description: 'A text, or the items of the conversation in order, oldest first',
    api: {
      oneOf: [
        { type: 'string', minLength: 1 },
        { type: 'array', minItems: 1, items: anyItem() },
      ],
    },
  })
  input!: string | readonly JsonObject[];

  @Text({
    max: MAX_INSTRUCTIONS,
    blank: 'allowed',
    ...optional,
    description:
      'What the model is to do; it comes first, and is not taken over by a later response',
  })
  instructions?: string;

  @Text({
    ...OWN_LABEL,
    description:
      'Id of the response that this one continues: its conversation comes before `input`',
  })
  previous_response_id?: string;

  @Bool({
    default: true,
    description: 'Whether the response is stored, so that it can be read and continued',
  })
  store!: boolean;

  @Bool({ default: false, description: 'Answer as server-sent events' })
  stream!: boolean;

  @Custom((value) => typeof value === 'object', 'must be an object', {
    ...optional,
    api: object,
    description: '`include_obfuscation` is taken and has no effect',
  })
  stream_options?: JsonObject;

  @ExcludedBy('stream')
  @Needs('store', true)
  @Bool({
    ...optional,
    description:
      'Whether the response is made while nobody waits: it is answered at once as `queued`, and read by its id',
  })
  background?: boolean;

  @Int({
    min: 1,
    max: MAX_OUTPUT_CAP,
    ...optional,
    description: 'Caps the generated tokens, those of reasoning included',
  })
  max_output_tokens?: number;

  @Temperature({ max: 2 })
  temperature?: number;

  @TopP()
  top_p?: number;

  @Int({
    min: 0,
    max: 20,
    ...optional,
    description:
      'How many likely tokens come with each token, if `include` asks for log probabilities',
  })
  top_logprobs?: number;

  @PresencePenalty()
  presence_penalty?: number;

  @FrequencyPenalty()
  frequency_penalty?: number;

  @Examined(responseToolsFault, {
    ...optional,
    api: { type: 'array', maxItems: 128, items: object },
    description:
      'Functions and custom tools that the model may call; you run them and send their results. Tools of other types are refused or left out',
  })
  tools?: readonly JsonObject[];

  @Examined(toolChoiceFault, {
    ...optional,
    api: { oneOf: [{ type: 'string', enum: ['none', 'auto', 'required'] }, object] },
    description:
      'Whether the model may, must or must not call a tool, which one it must call, or with `allowed_tools` among which it may choose',
  })
  tool_choice?: string | JsonObject;

  @Bool({ ...optional, description: 'Whether one answer may call several tools' })
  parallel_tool_calls?: boolean;

  @Int({
    min: 1,
    max: MAX_TOOL_CALLS,
    ...optional,
    description: 'Of hosted tools, which are not offered here; it is taken and has no effect',
  })
  max_tool_calls?: number;

  @Examined(textOptionsFault, {
    ...optional,
    api: object,
    description:
      '`format`: plain text, any JSON object, or JSON that follows a schema; `verbosity`: `low`, `medium` or `high`',
  })
  text?: JsonObject;

  @Examined(reasoningFault, {
    ...optional,
    api: object,
    description:
      '`effort`: how long the model thinks; thinking is billed as output tokens. `summary`: whether thoughts are summed up, where the vendor speaks this protocol',
  })
  reasoning?: JsonObject;

  @Enum(INCLUDES, {
    ...optional,
    list: { min: 0, max: INCLUDES.length },
    description: 'What the response has beside the usual',
  })
  include?: readonly string[];

  @Custom(isMetadata, 'must hold at most 16 texts of at most 512 characters by name', {
    ...optional,
    api: { type: 'object', additionalProperties: { type: 'string' } },
    description: 'Labels of your own, by name; the response has them too',
  })
  metadata?: JsonObject;

  @Text({
    ...OWN_LABEL,
    description: 'Your own name for the person who asks, passed to the provider',
  })
  user?: string;

  @Text({
    ...OWN_LABEL,
    description: 'A stable, anonymous name of the person who asks, for the provider to find misuse',
  })
  safety_identifier?: string;

  @Text({
    ...OWN_LABEL,
    description: 'Requests with the same key and beginning reuse what the provider has cached',
  })
  prompt_cache_key?: string;

  @Enum(['in_memory', '24h'], {
    ...optional,
    description: 'How long the provider is to keep what it has cached',
  })
  prompt_cache_retention?: string;

  @Custom((value) => typeof value === 'object', 'must be an object', {
    ...optional,
    api: object,
    description: 'Taken, and has no effect here',
  })
  prompt_cache_options?: JsonObject;

  @Enum(['auto', 'default'], { ...optional, description: 'Names what is done anyway' })
  service_tier?: string;

  @Enum(['auto', 'disabled'], {
    ...optional,
    description:
      'Taken and shown; a conversation that is too long for the model is refused in any case',
  })
  truncation?: string;

  @Examined(contextManagementFault, {
    ...optional,
    api: { type: 'array', items: object },
    description: 'Compaction is left out, and named in `x-gateway-ignored-fields`',
  })
  context_management?: readonly JsonObject[];

  @NotOffered(', use previous_response_id')
  conversation?: null;

  @NotOffered()
  prompt?: null;

  @NotOffered()
  moderation?: null;

  @Needs('background', true)
  @TextWebhook()
  webhook?: string;

  @Needs('background', true)
  @TextWebhookSecret()
  webhook_secret?: string;
}
