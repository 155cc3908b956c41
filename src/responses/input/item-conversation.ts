import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type {
  ConversationMessage,
  ImagePart,
  SealedPart,
  TextPart,
} from '../../providers/ports/conversation.js';

/** An item, and where the caller named it, for errors. */
export interface PlacedItem {
  readonly item: JsonObject;
  /** `input.3`; `previous_response_id` for an item of an earlier turn. */
  readonly param: string;
}

/** Opens the `encrypted_content` of a reasoning item. */
export type OpenSeal = (sealed: unknown) => SealedPart | undefined;

type AssistantParts = Extract<ConversationMessage, { role: 'assistant' }>['parts'];

/** Of a vendor of this protocol an answer may have items of other types, which no other vendor knows. */
const KNOWN: ReadonlySet<unknown> = new Set([
  ...['message', 'reasoning', 'function_call', 'function_call_output'],
  ...['custom_tool_call', 'custom_tool_call_output'],
]);

/** The field of a stored item that holds a vendor's own part. No client gets it. */
export const VENDOR_PART = 'vendor_part';

/**
 * The messages of a conversation, oldest first. Items that the model wrote, such as reasoning, a text and calls of tools,
 * make one message if they are neighbours.
 */
export function messagesOf(items: readonly PlacedItem[], open: OpenSeal): ConversationMessage[] {
  const messages: ConversationMessage[] = [];
  for (const placed of items) {
    if (!KNOWN.has(placed.item.type)) continue;
    const made = madeByModel(placed.item, open);
    const last = messages.at(-1);
    if (made === undefined) messages.push(messageOf(placed));
    else if (last?.role === 'assistant') {
      messages[messages.length - 1] = { role: 'assistant', parts: [...last.parts, ...made] };
    } else messages.push({ role: 'assistant', parts: made });
  }
  return messages;
}

/** Whether all of an item is in the messages. One without a part leaves no trace in them. */
export function isWholeInMessages({ type, role, content }: JsonObject): boolean {
  if (type !== 'message' || role !== 'assistant') return KNOWN.has(type);
  const parts = content as readonly JsonObject[];
  return parts.length > 0 && parts.every(isKnownPart);
}

/** The parts of an item that the model wrote; undefined for any other. */
function madeByModel(item: JsonObject, open: OpenSeal): AssistantParts | undefined {
  const { type, role, name, call_id: id } = item;
  const call = { type: 'tool-call', id: id as string, name: name as string } as const;
  switch (type) {
    case 'message':
      return role === 'assistant' ? contentOf(item).filter(isKnownPart).map(answerPart) : undefined;
    case 'function_call':
      return [
        { ...call, kind: 'function', arguments: item.arguments as string, ...vendorPartOf(item) },
      ];
    case 'custom_tool_call':
      return [{ ...call, kind: 'custom', arguments: item.input as string, ...vendorPartOf(item) }];
    case 'reasoning':
      return [reasoningPart(item, open)];
    default:
      return undefined;
  }
}

function vendorPartOf({ [VENDOR_PART]: sealed }: JsonObject): { readonly sealed?: SealedPart } {
  return isJsonObject(sealed) ? { sealed: sealed as unknown as SealedPart } : {};
}

/** A vendor of this protocol may have said something else too. */
function isKnownPart({ text, refusal }: JsonObject): boolean {
  return typeof text === 'string' || typeof refusal === 'string';
}

function answerPart({ type, text, refusal }: JsonObject): AssistantParts[number] {
  return type === 'refusal'
    ? { type: 'refusal', text: refusal as string }
    : { type: 'text', text: text as string };
}

function reasoningPart(item: JsonObject, open: OpenSeal): AssistantParts[number] {
  const texts = [item.content, item.summary].map((list) =>
    Array.isArray(list) ? (list as readonly JsonObject[]).map(({ text }) => text).join('\n') : '',
  );
  const sealed = open(item.encrypted_content);
  return {
    type: 'reasoning',
    text: texts.find((text) => text !== '') ?? '',
    ...(sealed && { sealed }),
  };
}

function messageOf({ item, param }: PlacedItem): ConversationMessage {
  const { role, call_id: callId, output } = item;
  if (callId !== undefined) {
    const parts: readonly (TextPart | ImagePart)[] =
      typeof output === 'string'
        ? [{ type: 'text', text: output }]
        : inputParts(output as readonly JsonObject[], `${param}.output`);
    return { role: 'tool', callId: callId as string, parts };
  }
  const parts = inputParts(contentOf(item), `${param}.content`);
  if (role !== 'system' && role !== 'developer') return { role: 'user', parts };
  return { role, parts: parts.filter((part): part is TextPart => part.type === 'text') };
}

function inputParts(parts: readonly JsonObject[], path: string): (TextPart | ImagePart)[] {
  return parts.map(({ type, text, image_url: url, detail }, index) =>
    type === 'input_image'
      ? {
          type: 'image',
          url: url as string,
          detail: detail as string,
          param: path.startsWith('input') ? `${path}.${index}.image_url` : path,
        }
      : { type: 'text', text: text as string },
  );
}

function contentOf({ content }: JsonObject): readonly JsonObject[] {
  return content as readonly JsonObject[];
}
