import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { PartFault } from '../../common/validation/fields.js';
import { faultAt, isCleanJson, uncleanPart, within } from '../../common/validation/clean-json.js';
import { FUNCTION_NAME, TEXT_FORMATS, TOOL_CHOICES } from '../../text/text-fields.js';

const MAX_TOOLS = 128;
const NAME_SAYS = 'must be 1 to 64 letters, digits, underscores or hyphens';
const ALLOWED_MODES: readonly unknown[] = ['auto', 'required'];
const VERBOSITIES: readonly unknown[] = [undefined, null, 'low', 'medium', 'high'];
const EFFORTS: readonly unknown[] = [
  ...[undefined, null, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
];
/** What `include` asks for: the thoughts of the model, sealed. */
export const SEALED_THOUGHTS = 'reasoning.encrypted_content';
/** The same: the likeliest words at each place. */
export const LOGPROBS = 'message.output_text.logprobs';
/** Values of `include`. Only the first two have an effect here. */
export const INCLUDES = [
  SEALED_THOUGHTS,
  LOGPROBS,
  'message.input_image.image_url',
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
] as const;
/** Hosted tools that clients send by themselves: they are left out and named (`x-gateway-ignored-fields`). */
export const LEFT_OUT_TOOLS: ReadonlySet<unknown> = new Set([
  'web_search',
  'web_search_preview',
  'namespace',
  'tool_search',
  'local_shell',
]);

type Fault = PartFault | undefined;

/** `tools`: functions, custom tools, and hosted ones that are left out. */
export function responseToolsFault(value: unknown): Fault {
  if (!Array.isArray(value) || value.length > MAX_TOOLS) {
    return faultAt('', `must be an array of at most ${MAX_TOOLS} tools`);
  }
  for (const [index, tool] of value.entries()) {
    const fault = toolFault(tool);
    if (fault) return within(`.${index}`, fault);
  }
  return uncleanPart(value);
}

function toolFault(tool: unknown): Fault {
  if (!isJsonObject(tool)) return faultAt('', 'must be an object');
  const { type, name, description, parameters, strict, format } = tool;
  if (LEFT_OUT_TOOLS.has(type)) return undefined;
  if (type !== 'function' && type !== 'custom') {
    return faultAt('.type', 'must be function or custom: hosted tools are not offered here');
  }
  if (typeof name !== 'string' || !FUNCTION_NAME.test(name)) return faultAt('.name', NAME_SAYS);
  if (!isOptional(description, 'string')) return faultAt('.description', 'must be a text');
  if (type === 'custom')
    return isOptionalObject(format) ? undefined : faultAt('.format', 'must be an object');
  if (!isOptionalObject(parameters)) return faultAt('.parameters', 'must be an object');
  return isOptional(strict, 'boolean') ? undefined : faultAt('.strict', 'must be true or false');
}

/** `tool_choice`: a mode, one tool, or the tools among which the model may choose. */
export function toolChoiceFault(value: unknown): Fault {
  if (TOOL_CHOICES.includes(value)) return undefined;
  if (!isJsonObject(value)) return faultAt('', 'must be none, auto, required or an object');
  if (value.type === 'allowed_tools') return allowedToolsFault(value);
  return namedToolFault(value);
}

function allowedToolsFault({ mode, tools }: JsonObject): Fault {
  if (!ALLOWED_MODES.includes(mode)) return faultAt('.mode', 'must be auto or required');
  if (!Array.isArray(tools) || tools.length === 0 || tools.length > MAX_TOOLS) {
    return faultAt('.tools', `must be an array of 1 to ${MAX_TOOLS} tools`);
  }
  for (const [index, tool] of tools.entries()) {
    const fault = isJsonObject(tool) ? namedToolFault(tool) : faultAt('', 'must be an object');
    if (fault) return within(`.tools.${index}`, fault);
  }
  return undefined;
}

function namedToolFault({ type, name }: JsonObject): Fault {
  if (type !== 'function' && type !== 'custom') {
    return faultAt('.type', 'must be function or custom: hosted tools are not offered here');
  }
  return typeof name === 'string' && FUNCTION_NAME.test(name)
    ? undefined
    : faultAt('.name', NAME_SAYS);
}

/** `text`: the form and the length of the answer. */
export function textOptionsFault(value: unknown): Fault {
  if (!isJsonObject(value)) return faultAt('', 'must be an object');
  const { format, verbosity } = value;
  if (!VERBOSITIES.includes(verbosity)) return faultAt('.verbosity', 'must be low, medium or high');
  if (format === undefined || format === null) return undefined;
  if (!isJsonObject(format) || !TEXT_FORMATS.includes(format.type)) {
    return faultAt('.format.type', 'must be text, json_object or json_schema');
  }
  if (format.type !== 'json_schema') return undefined;
  if (typeof format.name !== 'string' || !FUNCTION_NAME.test(format.name))
    return faultAt('.format.name', NAME_SAYS);
  if (!isJsonObject(format.schema)) return faultAt('.format.schema', 'must be an object');
  return uncleanPart(value);
}

/** `reasoning`: how much the model thinks. */
export function reasoningFault(value: unknown): Fault {
  if (!isJsonObject(value)) return faultAt('', 'must be an object');
  if (EFFORTS.includes(value.effort)) return isCleanJson(value) ? undefined : uncleanPart(value);
  return faultAt('.effort', 'must be none, minimal, low, medium, high, xhigh or max');
}

/** `context_management`: clients send compaction by themselves; it is left out and named. */
export function contextManagementFault(value: unknown): Fault {
  if (!Array.isArray(value)) return faultAt('', 'must be an array');
  const index = value.findIndex((item) => !isJsonObject(item) || item.type !== 'compaction');
  return index < 0 ? undefined : faultAt(`.${index}.type`, 'must be compaction');
}

function isOptional(value: unknown, type: 'string' | 'boolean'): boolean {
  return value === undefined || value === null || typeof value === type;
}

function isOptionalObject(value: unknown): boolean {
  return value === undefined || value === null || isJsonObject(value);
}
