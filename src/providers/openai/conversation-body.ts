import type { JsonObject } from '../../common/json-object.js';
import type {
  ConversationMessage,
  ChatTool,
  Conversation,
  AnswerFormat,
  ToolCallPart,
  ToolChoice,
} from '../ports/conversation.js';
import { effortOf } from '../ports/conversation.js';

type UserMessage = Extract<ConversationMessage, { role: 'user' }>;
type AssistantMessage = Extract<ConversationMessage, { role: 'assistant' }>;
type ToolMessage = Extract<ConversationMessage, { role: 'tool' }>;

/** OpenAI takes at most this many stop texts. */
const MAX_STOPS = 4;

/** A conversation of another face as the body of a chat completion, without model, cap and stream. */
export function chatBodyOf(conversation: Conversation): JsonObject {
  const { messages, tools, toolChoice, responseFormat, settings } = conversation;
  const hasTools = tools.length > 0;
  return {
    messages: messagesOf(messages),
    ...(hasTools && { tools: tools.map(toolOf) }),
    ...(hasTools && toolChoice !== undefined && { tool_choice: toolChoiceOf(toolChoice) }),
    ...(hasTools && { parallel_tool_calls: settings.parallelToolCalls }),
    ...(responseFormat && { response_format: formatOf(responseFormat) }),
    temperature: settings.temperature,
    top_p: settings.topP,
    stop: settings.stop?.slice(0, MAX_STOPS),
    seed: settings.seed,
    presence_penalty: settings.presencePenalty,
    frequency_penalty: settings.frequencyPenalty,
    logit_bias: settings.logitBias,
    logprobs: settings.logprobs,
    top_logprobs: settings.topLogprobs,
    reasoning_effort: effortOf(settings),
    verbosity: settings.verbosity,
    user: settings.user,
    safety_identifier: settings.safetyIdentifier,
    prompt_cache_key: settings.promptCacheKey,
    prompt_cache_retention: settings.promptCacheRetention,
  };
}

function messagesOf(messages: readonly ConversationMessage[]): JsonObject[] {
  const written: Record<string, unknown>[] = [];
  /** Of the results of tools, which stand together; a tool message has text alone. */
  let images: JsonObject[] = [];
  const showImages = (): void => {
    if (images.length > 0) written.push({ role: 'user', content: images });
    images = [];
  };
  for (const message of messages) {
    if (message.role !== 'tool') showImages();
    if (message.role === 'tool') {
      images.push(...imagesOf(message));
      written.push(resultOf(message));
    } else if (message.role === 'assistant') addAssistant(written, assistantOf(message));
    else if (message.role === 'user') written.push(userOf(message));
    else written.push({ role: 'system', content: joined(message.parts) });
  }
  showImages();
  return written;
}

/** Calls of one turn may come as several messages; they belong to one. */
function addAssistant(written: Record<string, unknown>[], message: Record<string, unknown>): void {
  const last = written.at(-1);
  const { content, tool_calls: calls } = message;
  if (last?.role === 'assistant' && content === null && Array.isArray(calls)) {
    const before = Array.isArray(last.tool_calls) ? (last.tool_calls as unknown[]) : [];
    last.tool_calls = [...before, ...(calls as unknown[])];
  } else written.push(message);
}

function userOf({ parts, name }: UserMessage): Record<string, unknown> {
  const isText = parts.every(({ type }) => type === 'text');
  const content = isText
    ? joined(parts.map((part) => (part.type === 'text' ? part : { text: '' })))
    : parts.map(userPartOf);
  return { role: 'user', content, ...(name !== undefined && { name }) };
}

function userPartOf(part: UserMessage['parts'][number]): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return imageOf(part);
  return { type: 'input_audio', input_audio: { data: part.data, format: part.format } };
}

function imageOf({
  url,
  detail,
}: {
  readonly url: string;
  readonly detail?: string | undefined;
}): JsonObject {
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } };
}

/** Without reasoning: no vendor needs it back, and most refuse it. */
function assistantOf({ parts }: AssistantMessage): Record<string, unknown> {
  const texts = parts.filter(({ type }) => type === 'text');
  const refusals = parts.filter(({ type }) => type === 'refusal');
  const calls = parts.filter((part): part is ToolCallPart => part.type === 'tool-call');
  const says = texts.length > 0 || calls.length === 0;
  return {
    role: 'assistant',
    content: says ? texts.map(textIn).join('') : null,
    ...(refusals.length > 0 && { refusal: refusals.map(textIn).join('') }),
    ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
  };
}

function textIn(part: AssistantMessage['parts'][number]): string {
  return part.type === 'tool-call' ? '' : part.text;
}

function callOf({ id, kind, name, arguments: text, sealed }: ToolCallPart): JsonObject {
  return {
    id,
    type: kind,
    ...(kind === 'custom'
      ? { custom: { name, input: text } }
      : { function: { name, arguments: text } }),
    ...(sealed?.family === 'chat' && { extra_content: sealed.value }),
  };
}

function resultOf({ callId, parts }: ToolMessage): Record<string, unknown> {
  const texts = parts.map((part) => (part.type === 'text' ? part : { text: '(an image follows)' }));
  return { role: 'tool', tool_call_id: callId, content: joined(texts) };
}

function imagesOf({ parts }: ToolMessage): JsonObject[] {
  return parts.flatMap((part) => (part.type === 'image' ? [imageOf(part)] : []));
}

function joined(parts: readonly { readonly text: string }[]): string {
  return parts.map(({ text }) => text).join('\n\n');
}

function toolOf(tool: ChatTool): JsonObject {
  const { kind, name, description } = tool;
  const named = { name, ...(description !== undefined && { description }) };
  if (tool.kind === 'custom') {
    return { type: kind, custom: { ...named, ...(tool.format && { format: tool.format }) } };
  }
  const { parameters, strict } = tool;
  const rest = { ...(parameters && { parameters }), ...(strict !== undefined && { strict }) };
  return { type: kind, function: { ...named, ...rest } };
}

function toolChoiceOf(choice: ToolChoice): string | JsonObject {
  if (typeof choice === 'string') return choice;
  return { type: choice.kind, [choice.kind]: { name: choice.name } };
}

function formatOf(format: AnswerFormat): JsonObject {
  if (format.type !== 'json_schema') return { type: format.type };
  const { type, ...json_schema } = format;
  return { type, json_schema };
}
