import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { textsOf } from './chat-texts.js';

const isText = (value: unknown): boolean => typeof value === 'string' || value === null;
const isList = (value: unknown): boolean => Array.isArray(value);

/** The fields of a vendor's message or delta that the caller gets as they are, and their shape (decision G-96). */
const PASSED: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['content', isText],
  ['refusal', isText],
  ['reasoning', isText],
  ['reasoning_content', isText],
  ['reasoning_details', isList],
  ['annotations', isList],
  ['audio', isJsonObject],
  ['extra_content', isJsonObject],
]);
/** The word of a part of content in which the model thinks. */
const THINKING = /think|reason/;

/**
 * The known fields of a vendor's message or delta, without its role and its calls of tools. Content in parts becomes
 * text: what the model thinks in them becomes `reasoning_content`. Any other field is left out.
 */
export function knownFieldsOf(message: JsonObject): JsonObject {
  const known: Record<string, unknown> = {};
  for (const key in message) {
    const value = message[key];
    if (PASSED.get(key)?.(value) === true) known[key] = value;
  }
  const { content, function_call: call } = message;
  if (Array.isArray(content)) addParts(content, known);
  if (isJsonObject(call)) known.function_call = functionOf(call);
  return known;
}

/** A called function: its name, and its arguments as JSON text whatever they came as. */
export function functionOf({ name, arguments: given }: JsonObject): JsonObject {
  return {
    ...(typeof name === 'string' && { name }),
    ...(given !== undefined && given !== null && { arguments: jsonTextOf(given) }),
  };
}

function jsonTextOf(given: unknown): string {
  return typeof given === 'string' ? given : JSON.stringify(given);
}

/** Parts that are neither text, nor thoughts, nor a refusal have no place in an answer of text. */
function addParts(parts: readonly unknown[], known: Record<string, unknown>): void {
  const texts: Record<'content' | 'reasoning_content' | 'refusal', string> = {
    content: '',
    reasoning_content: '',
    refusal: '',
  };
  for (const part of parts) {
    if (typeof part === 'string') texts.content += part;
    else if (isJsonObject(part)) texts[placeOf(part)] += textsOf(part).join('');
  }
  known.content = texts.content;
  if (texts.refusal !== '') known.refusal = texts.refusal;
  if (texts.reasoning_content === '') return;
  if (known.reasoning === undefined) known.reasoning_content ??= texts.reasoning_content;
}

function placeOf({ type }: JsonObject): 'content' | 'reasoning_content' | 'refusal' {
  if (type === 'refusal') return 'refusal';
  return typeof type === 'string' && THINKING.test(type) ? 'reasoning_content' : 'content';
}
