import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatTool, SealedPart } from '../../providers/ports/conversation.js';
import { encryptedItemOf } from '../../providers/text/encrypted-items.js';
import { LEFT_OUT_TOOLS, LOGPROBS } from '../dto/response-shapes.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import {
  isWholeInMessages,
  type OpenSeal,
  type PlacedItem,
  VENDOR_PART,
} from './item-conversation.js';
import { knownTextOptions, knownTool, knownToolChoice, pick } from './known-options.js';

/** Settings that a vendor of this protocol gets as they are. */
const SETTINGS = [
  ...['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'prompt_cache_retention'],
] as const satisfies readonly (keyof ResponsesBody)[];
/** The same, where an empty text counts as absent. */
const TEXTS = [
  ...['instructions', 'user', 'safety_identifier', 'prompt_cache_key'],
] as const satisfies readonly (keyof ResponsesBody)[];

/**
 * The request as a vendor of this protocol gets it, without what the adapter adds: model, cap, store, include and stream.
 * What changes a price or the vendor's state is not in it.
 */
export function nativeBodyOf(
  body: ResponsesBody,
  items: readonly PlacedItem[],
  open: OpenSeal,
): JsonObject {
  const tools = (body.tools ?? []).filter(({ type }) => !LEFT_OUT_TOOLS.has(type));
  const asksLogprobs = body.include?.includes(LOGPROBS) === true;
  return {
    input: items.flatMap(({ item }) => vendorItemOf(item, open)),
    ...Object.fromEntries(SETTINGS.map((name) => [name, body[name]])),
    ...Object.fromEntries(
      TEXTS.filter((name) => body[name] !== '').map((name) => [name, body[name]]),
    ),
    text: body.text && knownTextOptions(body.text),
    tool_choice: body.tool_choice && knownToolChoice(body.tool_choice),
    ...(tools.length > 0 && {
      tools: tools.map(knownTool),
      parallel_tool_calls: body.parallel_tool_calls,
    }),
    ...(body.reasoning && { reasoning: pick(body.reasoning, ['effort', 'summary']) }),
    ...(asksLogprobs && { top_logprobs: body.top_logprobs ?? 0 }),
  };
}

/**
 * What of a native body is not in the conversation that other vendors get, so that it counts in the bound of the prompt: items
 * and parts that nobody else knows, and tools that the model may not call now.
 */
export function onlyNative(
  { input, tools = [], tool_choice: choice }: JsonObject,
  allowed: readonly ChatTool[],
): unknown[] {
  const isAllowed = ({ type, name }: JsonObject) =>
    allowed.some((tool) => tool.kind === type && tool.name === name);
  return [
    ...(input as readonly JsonObject[]).filter((item) => !isWholeInMessages(item)),
    ...(tools as readonly JsonObject[]).filter((tool) => !isAllowed(tool)),
    ...(isJsonObject(choice) ? [choice] : []),
  ];
}

/**
 * An item in the vendor's form. The vendor stores none, so it needs back the ids of what it has encrypted alone, which are
 * sealed with it; reasoning of others stays out.
 */
function vendorItemOf(item: JsonObject, open: OpenSeal): JsonObject[] {
  const { id, status, [VENDOR_PART]: ofVendor, ...fields } = item;
  if ('encrypted_content' in item) return encryptedOf(fields, open(item.encrypted_content));
  if (item.type !== 'message' || item.role !== 'assistant') return [fields];
  return [{ ...fields, content: (item.content as readonly JsonObject[]).map(withoutLogprobs) }];
}

function encryptedOf(fields: JsonObject, sealed: SealedPart | undefined): JsonObject[] {
  const value = sealed?.family === 'responses' ? sealed.value : {};
  const item = encryptedItemOf(value);
  if (item === undefined) return [];
  if (fields.type === 'reasoning') return [item];
  const { id, encrypted_content } = value;
  return [{ ...fields, ...(typeof id === 'string' && { id }), encrypted_content }];
}

function withoutLogprobs({ logprobs, ...part }: JsonObject): JsonObject {
  return part;
}
