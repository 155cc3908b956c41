import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type {
  CacheTime,
  ConversationMessage,
  ChatSettings,
  ChatTool,
  Conversation,
  ImagePart,
  AnswerFormat,
  TextPart,
  ToolChoice,
} from '../../providers/ports/conversation.js';
import type { MessagesBody } from '../dto/messages.body.js';
import { isKnownBlock } from './known-blocks.js';

type AssistantPart = Extract<ConversationMessage, { role: 'assistant' }>['parts'][number];
type InputPart = TextPart | ImagePart;

/** Name of the form of an answer, which this protocol does not name. */
const FORMAT_NAME = 'answer';

/** What a checked body asks, in neutral parts, for a vendor of another protocol, who gets no unknown blocks. */
export function conversationOfBody(body: MessagesBody): Conversation {
  const { system, messages, tools = [] } = body;
  const choice = choiceOf(body.tool_choice);
  const format = formatOf(body.output_config);
  return {
    messages: [
      ...systemMessages(system),
      ...messages.flatMap((message, index) => turnOf(message, `messages.${index}.content`)),
    ],
    tools: tools.map(toolOf),
    ...(choice !== undefined && tools.length > 0 && { toolChoice: choice }),
    ...(format && { responseFormat: format }),
    settings: settingsOf(body),
  };
}

/** The blocks of a content that may be a text. */
export function blocksOf(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}

function systemMessages(content: unknown): ConversationMessage[] {
  const parts = blocksOf(content).map(textPart);
  return parts.length > 0 ? [{ role: 'system', parts }] : [];
}

function turnOf({ role, content }: JsonObject, path: string): ConversationMessage[] {
  if (role === 'system') return systemMessages(content);
  const blocks = blocksOf(content);
  if (role === 'assistant') {
    const known = blocks.filter(isKnownBlock);
    return known.length === 0 && blocks.length > 0
      ? []
      : [{ role, parts: known.map(assistantPart) }];
  }
  const placed = blocks.map((block, index) => ({ block, path: `${path}.${index}` }));
  const results = placed.filter(({ block }) => block.type === 'tool_result');
  const parts = placed.flatMap(({ block, path: at }) => inputParts(block, at));
  return [
    ...results.map(({ block, path: at }) => resultMessage(block, at)),
    ...(parts.length > 0 || results.length === 0 ? [{ role: 'user', parts } as const] : []),
  ];
}

function resultMessage(block: JsonObject, path: string): ConversationMessage {
  const parts = blocksOf(block.content).flatMap((inner, index) =>
    inputParts(inner, `${path}.content.${index}`),
  );
  const cache = cacheOf(block);
  const last = parts.at(-1);
  return {
    role: 'tool',
    callId: block.tool_use_id as string,
    parts: cache && last ? [...parts.slice(0, -1), { ...last, cache }] : parts,
    ...(block.is_error === true && { isError: true }),
  };
}

/** Results of tools are messages of their own and give none. */
function inputParts(block: JsonObject, path: string): InputPart[] {
  switch (block.type) {
    case 'text':
      return [textPart(block)];
    case 'image':
      return [imagePart(block, path)];
    case 'document':
    case 'search_result':
      return [{ type: 'text', text: textOfDocument(block), ...cached(block) }];
    default:
      return [];
  }
}

function imagePart(block: JsonObject, path: string): ImagePart {
  const { type, url, media_type: mediaType, data } = block.source as Record<string, string>;
  return type === 'url'
    ? { type: 'image', url: String(url), param: `${path}.source.url`, ...cached(block) }
    : { type: 'image', url: `data:${mediaType};base64,${data}`, ...cached(block) };
}

function textPart(block: JsonObject): TextPart {
  return { type: 'text', text: block.text as string, ...cached(block) };
}

/** A document of text with what the caller tells of it. */
function textOfDocument({ type, title, context, source, content }: JsonObject): string {
  const { data, content: inner } = isJsonObject(source) ? source : {};
  const body =
    typeof data === 'string'
      ? [data]
      : blocksOf(type === 'search_result' ? content : inner).map(({ text }) => text);
  const about = [title, context, type === 'search_result' ? source : undefined];
  return [...about, ...body].filter((text) => typeof text === 'string' && text !== '').join('\n');
}

function assistantPart(block: JsonObject): AssistantPart {
  switch (block.type) {
    case 'tool_use': {
      const { id, name, input } = block;
      const call = { id: id as string, name: name as string, arguments: JSON.stringify(input) };
      return { type: 'tool-call', kind: 'function', ...call };
    }
    case 'thinking':
      return {
        type: 'reasoning',
        text: block.thinking as string,
        ...(isSigned(block) && { sealed: { family: 'messages', value: block } }),
      };
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', sealed: { family: 'messages', value: block } };
    default:
      return textPart(block);
  }
}

/** Whether a vendor signed the thoughts; those of another protocol have an empty signature. */
export function isSigned({ signature }: JsonObject): boolean {
  return typeof signature === 'string' && signature !== '';
}

function cached(block: JsonObject): { readonly cache?: CacheTime } {
  const cache = cacheOf(block);
  return cache === undefined ? {} : { cache };
}

function cacheOf({ cache_control: cache }: JsonObject): CacheTime | undefined {
  if (!isJsonObject(cache)) return undefined;
  return cache.ttl === '1h' ? '1h' : '5m';
}

function toolOf(tool: JsonObject): ChatTool {
  const { name, description, input_schema: parameters, strict } = tool;
  return {
    kind: 'function',
    name: name as string,
    parameters: parameters as JsonObject,
    ...(typeof description === 'string' && { description }),
    ...(typeof strict === 'boolean' && { strict }),
    ...cached(tool),
  };
}

function choiceOf(choice: JsonObject | undefined): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (choice.type === 'tool') return { kind: 'function', name: choice.name as string };
  return choice.type === 'any' ? 'required' : (choice.type as 'auto' | 'none');
}

function formatOf(config: JsonObject | undefined): AnswerFormat | undefined {
  const format = config?.format;
  if (!isJsonObject(format)) return undefined;
  const schema = format.schema as JsonObject;
  return { type: 'json_schema', name: FORMAT_NAME, schema, strict: true };
}

function settingsOf(body: MessagesBody): ChatSettings {
  const { thinking, output_config: config, tools = [], stop_sequences: stop } = body;
  const isSingle = body.tool_choice?.disable_parallel_tool_use;
  return {
    temperature: body.temperature,
    topP: body.top_p,
    topK: body.top_k,
    stop: stop && stop.length > 0 ? stop : undefined,
    reasoningEffort: typeof config?.effort === 'string' ? config.effort : undefined,
    thinkingBudgetTokens: budgetOf(thinking),
    parallelToolCalls: tools.length > 0 && isSingle === true ? false : undefined,
    user: userOf(body),
  };
}

/** The caller's own name for the person who asks; coding agents name the session in it. */
export function userOf({ metadata }: MessagesBody): string | undefined {
  const user = metadata?.user_id;
  return typeof user === 'string' && user !== '' ? user : undefined;
}

function budgetOf(thinking: JsonObject | undefined): number | undefined {
  if (thinking?.type === 'disabled') return 0;
  return thinking?.type === 'enabled' ? (thinking.budget_tokens as number) : undefined;
}
