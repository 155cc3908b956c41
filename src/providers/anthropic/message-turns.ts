import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type {
  AudioPart,
  ConversationMessage,
  ImagePart,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
} from '../ports/conversation.js';
import type { CacheMarks, WireBlock } from './cache-marks.js';

/** A turn of the vendor's protocol. */
export interface WireTurn {
  readonly role: 'user' | 'assistant';
  readonly content: WireBlock[];
}

type AssistantPart = TextPart | RefusalPart | ReasoningPart | ToolCallPart;
type SystemMessage = Extract<ConversationMessage, { readonly role: 'system' | 'developer' }>;
type Turn = Exclude<ConversationMessage, SystemMessage>;

const DATA_URI = /^data:([^;,]+)(?:;[^,]*)?;base64,(.*)$/s;
/** What stands where the conversation begins with the model, or has no words of the user. */
const NO_WORDS = { type: 'text', text: '.' };

/**
 * The turns of a conversation without its system messages: neighbours of one role are one turn, results of tools come first
 * in theirs, and blank texts are left out, as the vendor demands. The first turn is the user's.
 */
export function turnsOf(messages: readonly ConversationMessage[], marks: CacheMarks): WireTurn[] {
  const ids = new ToolIds();
  const turns: WireTurn[] = [];
  for (const message of messages) {
    if (!isSystem(message)) addTurn(turns, message, blocksOf(message, ids, marks));
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [{ ...NO_WORDS }] });
  trimLast(turns);
  return turns;
}

/** Whether a message is for the system prompt of the request. */
export function isSystem(message: ConversationMessage): message is SystemMessage {
  return message.role === 'system' || message.role === 'developer';
}

function addTurn(turns: WireTurn[], { role: wanted }: Turn, blocks: WireBlock[]): void {
  if (blocks.length === 0) return;
  const role = wanted === 'assistant' ? wanted : 'user';
  let turn = turns.at(-1);
  if (turn?.role !== role) turns.push((turn = { role, content: [] }));
  const results = turn.content.filter(({ type }) => type === 'tool_result').length;
  const at = wanted === 'tool' ? results : turn.content.length;
  turn.content.splice(at, 0, ...blocks);
}

/** The vendor refuses white space at the end of a turn that the model is to continue. */
function trimLast(turns: readonly WireTurn[]): void {
  const turn = turns.at(-1);
  const block = turn?.role === 'assistant' ? turn.content.at(-1) : undefined;
  if (block?.type === 'text') block.text = String(block.text).trimEnd();
}

function blocksOf(message: Turn, ids: ToolIds, marks: CacheMarks): WireBlock[] {
  switch (message.role) {
    case 'assistant':
      return message.parts.map((part) => assistantBlock(part, ids, marks)).filter(isBlock);
    case 'user':
      return message.parts.map((part) => userBlock(part, marks)).filter(isBlock);
    case 'tool':
      return [resultBlock(message, ids, marks)];
  }
}

const isBlock = (block: WireBlock | undefined): block is WireBlock => block !== undefined;

function resultBlock(
  { callId, parts, isError }: Extract<ConversationMessage, { role: 'tool' }>,
  ids: ToolIds,
  marks: CacheMarks,
): WireBlock {
  // A mark within a result holds for the whole result.
  const cache = parts.findLast((part) => part.cache !== undefined)?.cache;
  const content = parts
    .map((part) => userBlock({ ...part, cache: undefined }, marks))
    .filter(isBlock);
  const block = {
    type: 'tool_result',
    tool_use_id: ids.of(callId),
    ...(content.length > 0 && { content }),
    ...(isError === true && { is_error: true }),
  };
  return marks.mark(block, cache);
}

/** Undefined for a blank text, and for a recording: the vendor takes none, and the adapter refuses it before. */
function userBlock(
  part: TextPart | ImagePart | AudioPart,
  marks: CacheMarks,
): WireBlock | undefined {
  if (part.type === 'text') return textBlock(part, marks);
  if (part.type === 'audio') return undefined;
  return marks.mark({ type: 'image', source: sourceOf(part.url) }, part.cache);
}

function sourceOf(url: string): JsonObject {
  const [, mediaType, data] = DATA_URI.exec(url) ?? [];
  if (mediaType === undefined) return { type: 'url', url };
  const type = mediaType === 'image/jpg' ? 'image/jpeg' : mediaType;
  return { type: 'base64', media_type: type, data };
}

function textBlock({ text, cache }: TextPart, marks: CacheMarks): WireBlock | undefined {
  return text.trim() === '' ? undefined : marks.mark({ type: 'text', text }, cache);
}

function assistantBlock(
  part: AssistantPart,
  ids: ToolIds,
  marks: CacheMarks,
): WireBlock | undefined {
  switch (part.type) {
    case 'text':
      return textBlock(part, marks);
    case 'refusal':
      return textBlock({ type: 'text', text: part.text }, marks);
    case 'reasoning':
      return part.sealed?.family === 'messages' ? thoughtBlock(part.sealed.value) : undefined;
    case 'tool-call':
      return { type: 'tool_use', id: ids.of(part.id), name: part.name, input: inputOf(part) };
  }
}

/**
 * Thoughts that the vendor signed. They come back from the caller, who could put anything in their place: nothing but
 * their own fields is sent.
 */
function thoughtBlock({ type, thinking, signature, data }: JsonObject): WireBlock | undefined {
  if (type === 'thinking' && typeof thinking === 'string' && typeof signature === 'string') {
    return { type, thinking, signature };
  }
  return type === 'redacted_thinking' && typeof data === 'string' ? { type, data } : undefined;
}

/** The input of a call as an object. That of a custom tool is one text; arguments that are no object are passed as one. */
function inputOf({ kind, arguments: text }: ToolCallPart): JsonObject {
  if (kind === 'custom') return { input: text };
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // As below.
  }
  return { arguments: text };
}

const ID_CHAR = /[^a-zA-Z0-9_-]/g;

/** Ids of calls in the form that the vendor takes. Different ids stay different. */
class ToolIds {
  private readonly byId = new Map<string, string>();
  private readonly taken = new Set<string>();

  of(id: string): string {
    const known = this.byId.get(id);
    if (known !== undefined) return known;
    const plain = id.replace(ID_CHAR, '_') || 'call';
    let safe = plain;
    for (let next = 2; this.taken.has(safe); next += 1) safe = `${plain}_${next}`;
    this.byId.set(id, safe);
    this.taken.add(safe);
    return safe;
  }
}
