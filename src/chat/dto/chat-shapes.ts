import { isJsonObject } from '../../common/json-object.js';
import type { PartFault } from '../../common/validation/fields.js';
import { isCleanJson, uncleanPart } from '../../common/validation/clean-json.js';
import { FUNCTION_NAME, TEXT_FORMATS, TOOL_CHOICES } from '../../text/text-fields.js';

const MAX_TOOLS = 128;
const MAX_STOPS = 4;
const MAX_STOP_CHARACTERS = 1_000;
const MAX_BIAS = 100;
const STREAM_OPTIONS: readonly string[] = ['include_usage', 'include_obfuscation'];

/** `messages`: at least one value. `checkMessages` checks each. */
export function messagesFault(value: unknown): PartFault | undefined {
  if (Array.isArray(value) && value.length > 0) return uncleanPart(value);
  return { at: '', says: 'must be an array of at least one message' };
}

/** A text, or up to four texts. */
export function isStop(value: unknown): boolean {
  const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
  const isText = (text: unknown) =>
    typeof text === 'string' && text !== '' && text.length <= MAX_STOP_CHARACTERS;
  return texts.length <= MAX_STOPS && texts.every(isText) && isCleanJson(texts);
}

/** Token ids, each with a bias. */
export function isLogitBias(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    Object.entries(value).every(
      ([token, bias]) =>
        /^\d{1,9}$/.test(token) && typeof bias === 'number' && Math.abs(bias) <= MAX_BIAS,
    )
  );
}

/** Named functions (or custom tools) that the model may call. */
export function toolsFault(value: unknown): PartFault | undefined {
  if (!Array.isArray(value) || value.length === 0 || value.length > MAX_TOOLS) {
    return { at: '', says: `must be an array of 1 to ${MAX_TOOLS} tools` };
  }
  for (const [index, tool] of value.entries()) {
    const fault = toolFault(tool);
    if (fault) return { ...fault, at: `.${index}${fault.at}` };
  }
  return uncleanPart(value);
}

/** A mode, or the one tool that has to be called. */
export function isToolChoice(value: unknown): boolean {
  return TOOL_CHOICES.includes(value) || (isJsonObject(value) && isCleanJson(value));
}

/** An object whose `type` names the format. */
export function responseFormatFault(value: unknown): PartFault | undefined {
  if (!isJsonObject(value) || !TEXT_FORMATS.includes(value.type)) {
    return { at: '', says: 'must have the type text, json_object or json_schema' };
  }
  if (value.type === 'json_schema' && !isJsonObject(value.json_schema)) {
    return { at: '.json_schema', says: 'must be an object' };
  }
  return uncleanPart(value);
}

/** The one kind of output that chats have. */
export function isTextOnly(value: unknown): boolean {
  return Array.isArray(value) && value.length === 1 && value[0] === 'text';
}

/** Flags of a stream. */
export function isStreamOptions(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    Object.entries(value).every(
      ([name, flag]) =>
        STREAM_OPTIONS.includes(name) && (typeof flag === 'boolean' || flag === null),
    )
  );
}

function toolFault(value: unknown): PartFault | undefined {
  if (!isJsonObject(value)) return { at: '', says: 'must be an object' };
  const { type } = value;
  if (type !== 'function' && type !== 'custom') {
    return { at: '.type', says: 'must be function or custom' };
  }
  const definition = value[type];
  if (!isJsonObject(definition)) return { at: `.${type}`, says: 'must be an object' };
  if (typeof definition.name === 'string' && FUNCTION_NAME.test(definition.name)) return undefined;
  return { at: `.${type}.name`, says: 'must be 1 to 64 letters, digits, underscores or hyphens' };
}
