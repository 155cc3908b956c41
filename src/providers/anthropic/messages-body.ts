import type { JsonObject } from '../../common/json-object.js';
import type { ChatTool, Conversation, ToolChoice } from '../ports/conversation.js';
import { CacheMarks, type WireBlock } from './cache-marks.js';
import { isSystem, turnsOf } from './message-turns.js';
import type { ModelSetting } from './refused-settings.js';
import { thinkingOf } from './thinking.js';

const MAX_TEMPERATURE = 1;
const MAX_USER_CHARS = 256;
/** The input of a custom tool, whose text the vendor can send as a field only. */
const TEXT_INPUT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
};

/**
 * The body of a Messages request for a conversation of another protocol, without its model. What the protocol does not know
 * is left out.
 * @param refused settings that the model does not take
 */
export function messagesBody(
  conversation: Conversation,
  maxTokens: number,
  refused: ReadonlySet<ModelSetting>,
): JsonObject {
  const marks = new CacheMarks();
  const tools = conversation.tools.map((tool) => toolOf(tool, marks));
  const system = systemOf(conversation, marks);
  const messages = turnsOf(conversation.messages, marks);
  marks.limit();
  const wanted = thinkingOf(conversation, maxTokens, refused);
  return {
    max_tokens: maxTokens,
    ...(system.length > 0 && { system }),
    messages,
    ...(tools.length > 0 && { tools, tool_choice: choiceOf(conversation) }),
    ...(wanted && { thinking: wanted.thinking }),
    ...outputConfigOf(conversation, wanted?.effort),
    // Thinking goes with the vendor's own sampling only.
    ...(!wanted && !refused.has('sampling') && samplingOf(conversation)),
    ...stopsOf(conversation),
    ...metadataOf(conversation),
  };
}

function outputConfigOf({ responseFormat }: Conversation, effort: string | undefined): JsonObject {
  const format = responseFormat?.type === 'json_schema' ? responseFormat : undefined;
  if (effort === undefined && format === undefined) return {};
  return {
    output_config: {
      ...(effort !== undefined && { effort }),
      ...(format && { format: { type: 'json_schema', schema: format.schema } }),
    },
  };
}

function stopsOf({ settings }: Conversation): JsonObject {
  const stops = settings.stop?.filter((stop) => stop.trim() !== '') ?? [];
  return stops.length > 0 ? { stop_sequences: stops } : {};
}

function metadataOf({ settings }: Conversation): JsonObject {
  const userId = (settings.safetyIdentifier ?? settings.user)?.slice(0, MAX_USER_CHARS);
  return userId ? { metadata: { user_id: userId } } : {};
}

function systemOf({ messages }: Conversation, marks: CacheMarks): WireBlock[] {
  return messages
    .filter(isSystem)
    .flatMap(({ parts }) => parts)
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, cache }) => marks.mark({ type: 'text', text }, cache));
}

function toolOf(tool: ChatTool, marks: CacheMarks): WireBlock {
  const { name, description } = tool;
  const named = { name, ...(description && { description }) };
  if (tool.kind === 'custom') return { ...named, input_schema: TEXT_INPUT };
  const { parameters, strict, cache } = tool;
  const schema = { type: 'object', ...parameters };
  const block = { ...named, input_schema: schema, ...(strict === true && { strict }) };
  return marks.mark(block, cache);
}

/** Undefined where the model may choose, and may call several tools at once: that is the vendor's habit. */
function choiceOf({ toolChoice = 'auto', settings }: Conversation): JsonObject | undefined {
  const single = settings.parallelToolCalls === false && { disable_parallel_tool_use: true };
  if (toolChoice === 'none') return { type: 'none' };
  if (toolChoice === 'auto' && !single) return undefined;
  return { ...wordOf(toolChoice), ...single };
}

function wordOf(choice: Exclude<ToolChoice, 'none'>): JsonObject {
  if (choice === 'auto') return { type: 'auto' };
  return choice === 'required' ? { type: 'any' } : { type: 'tool', name: choice.name };
}

/** Newer models refuse a temperature beside `top_p`. */
function samplingOf({ settings: { temperature, topP, topK } }: Conversation): JsonObject {
  return {
    ...(temperature === undefined
      ? topP !== undefined && { top_p: topP }
      : { temperature: Math.min(temperature, MAX_TEMPERATURE) }),
    ...(topK !== undefined && { top_k: topK }),
  };
}
