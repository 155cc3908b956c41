import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type {
  AudioPart,
  ConversationMessage,
  Conversation,
  ImagePart,
  SealedPart,
  TextPart,
  ToolCallPart,
} from '../ports/conversation.js';
import { inputArguments } from './gemini-tools.js';

/** One turn. */
interface Content {
  readonly role: 'user' | 'model';
  readonly parts: JsonObject[];
}

type Assistant = Extract<ConversationMessage, { role: 'assistant' }>;
type ToolResult = Extract<ConversationMessage, { role: 'tool' }>;

/** The signature with which the vendor takes a call that it did not make itself. */
const FOREIGN_CALL = 'skip_thought_signature_validator';
const DATA_URI = /^data:([^,;]+)?(?:;[^,]*)?;base64,/i;

/** An image whose bytes are not in the request; the vendor takes no URLs. */
export class ImageWithoutBytesError extends Error {}

/** The instructions of the operator of a conversation; undefined where there are none. */
export function systemInstructionOf({ messages }: Conversation): object | undefined {
  const parts = instructionsOf(messages);
  return parts.length === 0 ? undefined : { parts };
}

/**
 * The turns of a conversation. Neighbours of the same role are one turn, results of tools stand in the order of their
 * calls, and empty texts are left out. A conversation of instructions alone is a turn of the user. Throws
 * {@link ImageWithoutBytesError}.
 * @param signsCalls whether each step with calls needs a signature
 */
export function geminiContentsOf({ messages }: Conversation, signsCalls: boolean): Content[] {
  const calls = callsOf(messages);
  const turns: Content[] = [];
  for (const message of inOrderOfCalls(messages, calls)) {
    const turn = turnOf(message, calls, signsCalls);
    const last = turns.at(-1);
    if (turn === undefined || turn.parts.length === 0) continue;
    if (last?.role === turn.role) last.parts.push(...turn.parts);
    else turns.push(turn);
  }
  return turns.length > 0 ? turns : [{ role: 'user', parts: instructionsOf(messages) }];
}

/** A call that a result may belong to, and its place among all calls. */
interface KnownCall {
  readonly call: ToolCallPart;
  readonly place: number;
}

function callsOf(messages: readonly ConversationMessage[]): ReadonlyMap<string, KnownCall> {
  const calls = messages
    .flatMap((message) => (message.role === 'assistant' ? message.parts : []))
    .filter((part): part is ToolCallPart => part.type === 'tool-call');
  return new Map(calls.map((call, place) => [call.id, { call, place }]));
}

/** The vendor pairs calls with results of the same name by their order. */
function inOrderOfCalls(
  messages: readonly ConversationMessage[],
  calls: ReadonlyMap<string, KnownCall>,
): ConversationMessage[] {
  const ordered: ConversationMessage[] = [];
  let results: ToolResult[] = [];
  const placeOf = ({ callId }: ToolResult): number => calls.get(callId)?.place ?? calls.size;
  const flush = (): void => {
    ordered.push(...results.sort((one, other) => placeOf(one) - placeOf(other)));
    results = [];
  };
  for (const message of messages) {
    if (message.role === 'tool') results.push(message);
    else {
      flush();
      ordered.push(message);
    }
  }
  flush();
  return ordered;
}

function turnOf(
  message: ConversationMessage,
  calls: ReadonlyMap<string, KnownCall>,
  signsCalls: boolean,
): Content | undefined {
  switch (message.role) {
    case 'system':
    case 'developer':
      return undefined;
    case 'user':
      return { role: 'user', parts: message.parts.flatMap(sentPart) };
    case 'assistant':
      return { role: 'model', parts: answerParts(message, signsCalls) };
    case 'tool':
      return { role: 'user', parts: resultParts(message, calls.get(message.callId)?.call) };
  }
}

function instructionsOf(messages: readonly ConversationMessage[]): JsonObject[] {
  return messages.flatMap((message) =>
    message.role === 'system' || message.role === 'developer'
      ? message.parts.flatMap(sentPart)
      : [],
  );
}

function sentPart(part: TextPart | ImagePart | AudioPart): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'image':
      return [{ inlineData: imageData(part.url) }];
    case 'audio':
      return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.data } }];
  }
}

function imageData(url: string): JsonObject {
  const [head, mimeType = 'image/png'] = DATA_URI.exec(url) ?? [];
  if (head === undefined) throw new ImageWithoutBytesError('an image is named by its URL');
  return { mimeType, data: url.slice(head.length) };
}

/** The parts of an earlier answer. A signature belongs to the part after it, or to an empty text at the end. */
function answerParts({ parts }: Assistant, signsCalls: boolean): JsonObject[] {
  const sent: JsonObject[] = [];
  let signature: string | undefined;
  let hasCall = false;
  const push = (part: JsonObject, own = signature): void => {
    sent.push(own === undefined ? part : { ...part, thoughtSignature: own });
    signature = undefined;
  };
  for (const part of parts) {
    if (part.type === 'reasoning') signature = signatureOf(part.sealed) ?? signature;
    else if (part.type === 'tool-call') {
      const own = signatureOf(part.sealed) ?? signature;
      // Of calls that were made at once, only the first is signed.
      push(callPart(part), own ?? (signsCalls && !hasCall ? FOREIGN_CALL : undefined));
      hasCall = true;
    } else if (part.text !== '') push({ text: part.text });
  }
  if (signature !== undefined) push({ text: '' });
  return sent;
}

function signatureOf(sealed: SealedPart | undefined): string | undefined {
  const signature = sealed?.family === 'gemini' ? sealed.value.thoughtSignature : undefined;
  return typeof signature === 'string' ? signature : undefined;
}

function callPart(call: ToolCallPart): JsonObject {
  const args = call.kind === 'custom' ? inputArguments(call.arguments) : objectOf(call.arguments);
  return { functionCall: { id: call.id, name: call.name, args: args ?? {} } };
}

/** A result of a call that is not in the conversation keeps its id as the name, which the vendor refuses. */
function resultParts({ callId, parts, isError }: ToolResult, call?: ToolCallPart): JsonObject[] {
  const text = parts
    .filter((part) => part.type === 'text')
    .map((part) => part.text)
    .join('\n');
  const response = isError ? { error: text } : (objectOf(text) ?? { result: text });
  const images = parts.filter((part) => part.type === 'image').flatMap(sentPart);
  return [{ functionResponse: { id: callId, name: call?.name ?? callId, response } }, ...images];
}

function objectOf(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
