import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { IgnoredFields } from '../../text/ignored-fields.js';
import type { ResponsesBody } from '../dto/responses.body.js';

/** The known fields of the settings that are objects (decision G-107). */
const SETTINGS = {
  text: ['format', 'verbosity'],
  reasoning: ['effort', 'summary', 'generate_summary'],
  stream_options: ['include_obfuscation'],
  tool_choice: ['type', 'name', 'mode', 'tools'],
} as const;
const FORMAT = ['type', 'name', 'schema', 'strict', 'description'];
const ALLOWED_TOOL = ['type', 'name'];

/** Notes the unknown fields inside the settings of a checked body, by their paths; none of them is read or sent. */
export function noteUnknownOptions(body: ResponsesBody, ignored: IgnoredFields): void {
  for (const [name, known] of Object.entries(SETTINGS)) {
    const value = body[name as keyof typeof SETTINGS];
    if (isJsonObject(value)) ignored.among(value, known, name);
  }
  const { text, tool_choice: choice } = body;
  if (isJsonObject(text?.format)) ignored.among(text.format, FORMAT, 'text.format');
  if (!isJsonObject(choice) || !Array.isArray(choice.tools)) return;
  for (const [index, tool] of choice.tools.entries()) {
    if (isJsonObject(tool)) ignored.among(tool, ALLOWED_TOOL, `tool_choice.tools.${index}`);
  }
}

/** `text` without unknown fields. */
export function knownTextOptions({ format, verbosity }: JsonObject): JsonObject {
  return { format: isJsonObject(format) ? pick(format, FORMAT) : format, verbosity };
}

/** The fields of the object with these names. */
export function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
