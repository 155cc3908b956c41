import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { IgnoredFields } from '../../text/ignored-fields.js';
import { typeOfItem } from './item-shapes.js';

const COMMON = ['id', 'type', 'status'];
const CALL = [...COMMON, 'call_id', 'name'];

const PHASES: readonly unknown[] = ['commentary', 'final_answer'];

/** The known fields of items, by their types (decision G-107). */
const ITEM_FIELDS: Readonly<Record<string, readonly string[]>> = {
  message: [...COMMON, 'role', 'content', 'phase'],
  function_call: [...CALL, 'arguments'],
  function_call_output: [...CALL, 'output'],
  custom_tool_call: [...CALL, 'input'],
  custom_tool_call_output: [...CALL, 'output'],
  reasoning: [...COMMON, 'summary', 'content', 'encrypted_content'],
  item_reference: COMMON,
};
const PART_FIELDS: Readonly<Record<string, readonly string[]>> = {
  input_text: ['type', 'text'],
  input_image: ['type', 'image_url', 'detail', 'file_id'],
  output_text: ['type', 'text', 'annotations', 'logprobs'],
  refusal: ['type', 'refusal'],
};

/**
 * A checked item in the one form in which items are listed and stored: with its type and status, with parts in place of a
 * text, without an id and without unknown fields, which are noted below the path of the item.
 */
export function knownItem(item: JsonObject, path: string, ignored: IgnoredFields): JsonObject {
  const type = typeOfItem(item) as string;
  ignored.among(item, ITEM_FIELDS[type] ?? [], path);
  const done = { type, status: 'completed' };
  const { call_id, name } = item;
  switch (type) {
    case 'message':
      return {
        ...done,
        role: item.role,
        content: partsOf(item, path, ignored),
        ...phaseOf(item),
      };
    case 'function_call':
      return { ...done, call_id, name, arguments: item.arguments };
    case 'custom_tool_call':
      return { ...done, call_id, name, input: item.input };
    case 'reasoning':
      return reasoning(item);
    case 'item_reference':
      return { type, id: item.id };
    default:
      return { ...done, call_id, output: outputOf(item, path, ignored) };
  }
}

/** What a message of the model is for; vendors of this protocol want it back. */
function phaseOf({ phase }: JsonObject): JsonObject {
  return PHASES.includes(phase) ? { phase } : {};
}

function partsOf(
  { role, content }: JsonObject,
  path: string,
  ignored: IgnoredFields,
): JsonObject[] {
  const isAnswer = role === 'assistant';
  if (typeof content === 'string') {
    return [isAnswer ? outputText(content) : { type: 'input_text', text: content }];
  }
  return (content as readonly JsonObject[]).map((part, index) =>
    knownPart(part, `${path}.content.${index}`, ignored),
  );
}

function outputOf({ output }: JsonObject, path: string, ignored: IgnoredFields): unknown {
  if (!Array.isArray(output)) return output;
  return (output as readonly JsonObject[]).map((part, index) =>
    knownPart(part, `${path}.output.${index}`, ignored),
  );
}

function knownPart(part: JsonObject, path: string, ignored: IgnoredFields): JsonObject {
  const type = part.type as string;
  ignored.among(part, PART_FIELDS[type] ?? [], path);
  if (type === 'input_image') {
    return { type, image_url: part.image_url, detail: part.detail ?? 'auto' };
  }
  if (type === 'refusal') return { type, refusal: part.refusal };
  return type === 'output_text' ? outputText(part.text as string) : { type, text: part.text };
}

function outputText(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function reasoning({ summary, content, encrypted_content: sealed }: JsonObject): JsonObject {
  const texts = (list: unknown, type: string) =>
    Array.isArray(list) ? list.filter(isJsonObject).map(({ text }) => ({ type, text })) : [];
  return {
    type: 'reasoning',
    status: 'completed',
    summary: texts(summary, 'summary_text'),
    content: texts(content, 'reasoning_text'),
    encrypted_content: sealed ?? null,
  };
}
