import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { textsOf } from './message-texts.js';

const isText = (value: unknown): boolean => typeof value === 'string' || value === null;
const isList = (value: unknown): boolean => Array.isArray(value);

/** The fields of a vendor's message or delta that the caller gets unchanged, and their shape (decision G-96). */
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
/** Matches the type of a content part that contains reasoning. */
const THINKING = /think|reason/;

/**
 * The known fields of a vendor's message or delta, without its role and its tool calls. Content parts become text:
 * reasoning parts become `reasoning_content`. Any other field is left out.
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

/** A called function: its name, and its arguments as JSON text, whatever type the vendor sent. */
export function functionOf({ name, arguments: args }: JsonObject): JsonObject {
  return {
    ...(typeof name === 'string' && { name }),
    ...(args !== undefined && args !== null && { arguments: jsonTextOf(args) }),
  };
}

function jsonTextOf(args: unknown): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

/**
 * Parts that are neither text, nor reasoning, nor a refusal cannot be represented in a text response and are left out.
 */
function addParts(parts: readonly unknown[], known: Record<string, unknown>): void {
  const texts: Record<'content' | 'reasoning_content' | 'refusal', string> = {
    content: '',
    reasoning_content: '',
    refusal: '',
  };
  for (const part of parts) {
    if (typeof part === 'string') texts.content += part;
    else if (isJsonObject(part)) texts[fieldOf(part)] += textsOf(part).join('');
  }
  known.content = texts.content;
  if (texts.refusal !== '') known.refusal = texts.refusal;
  if (texts.reasoning_content === '') return;
  if (known.reasoning === undefined) known.reasoning_content ??= texts.reasoning_content;
}

function fieldOf({ type }: JsonObject): 'content' | 'reasoning_content' | 'refusal' {
  if (type === 'refusal') return 'refusal';
  return typeof type === 'string' && THINKING.test(type) ? 'reasoning_content' : 'content';
}
