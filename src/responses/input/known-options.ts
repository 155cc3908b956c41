import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { IgnoredFields } from '../../text/ignored-fields.js';
import type { ResponsesBody } from '../dto/responses.body.js';

const TOOL = ['type', 'name', 'description', 'parameters', 'strict', 'format'];
const NAMED_TOOL = ['type', 'name'];
const ALLOWED_TOOLS = ['type', 'mode', 'tools'];
/** The known fields of the settings that are objects (decision G-107). */
const SETTINGS = {
  text: ['format', 'verbosity'],
  reasoning: ['effort', 'summary', 'generate_summary'],
  stream_options: ['include_obfuscation'],
} as const;
const FORMAT = ['type', 'name', 'schema', 'strict', 'description'];
/** The known fields of the form of a custom tool's text. */
const TOOL_FORMAT = ['type', 'syntax', 'definition'];

/** Notes the unknown fields inside the settings of a checked body, by their paths; none of them is read or sent. */
export function noteUnknownOptions(body: ResponsesBody, ignored: IgnoredFields): void {
  for (const [name, known] of Object.entries(SETTINGS)) {
    const value = body[name as keyof typeof SETTINGS];
    if (isJsonObject(value)) ignored.among(value, known, name);
  }
  const { text, tools, tool_choice: choice } = body;
  if (isJsonObject(text?.format)) ignored.among(text.format, FORMAT, 'text.format');
  for (const [index, { format }] of (tools ?? []).entries()) {
    if (isJsonObject(format)) ignored.among(format, TOOL_FORMAT, `tools.${index}.format`);
  }
  if (!isJsonObject(choice)) return;
  ignored.among(choice, choiceFields(choice), 'tool_choice');
  if (choice.type !== 'allowed_tools') return;
  for (const [index, tool] of (choice.tools as readonly JsonObject[]).entries()) {
    ignored.among(tool, NAMED_TOOL, `tool_choice.tools.${index}`);
  }
}

const choiceFields = ({ type }: JsonObject): string[] =>
  type === 'allowed_tools' ? ALLOWED_TOOLS : NAMED_TOOL;

/** `tool_choice` without unknown fields. */
export function knownToolChoice(choice: string | JsonObject): string | JsonObject {
  if (!isJsonObject(choice)) return choice;
  const known = pick(choice, choiceFields(choice));
  if (choice.type !== 'allowed_tools') return known;
  const tools = choice.tools as readonly JsonObject[];
  return { ...known, tools: tools.map((tool) => pick(tool, NAMED_TOOL)) };
}

/** A function or a custom tool without unknown fields. */
export function knownTool(tool: JsonObject): JsonObject {
  const known = pick(tool, TOOL);
  const { format } = known;
  return isJsonObject(format) ? { ...known, format: pick(format, TOOL_FORMAT) } : known;
}

/** `text` without unknown fields. */
export function knownTextOptions({ format, verbosity }: JsonObject): JsonObject {
  return { format: isJsonObject(format) ? pick(format, FORMAT) : format, verbosity };
}

/** The fields of the object with these names. */
export function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
