import type { JsonObject } from '../common/json-object.js';

/** Prefixes of the ids of items, by their types (API: Stored responses). */
const ITEM_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
};
const ITEM_ID = /^(?:msg|rs|fc|fco|ctc|ctco|item)_([0-9a-f]{32})$/;
const RESPONSE_ID = /^resp_([0-9a-f]{32})$/;

/** The id of an item of this type, as clients see it. */
export function toItemId(type: string, uuid: string): string {
  return `${ITEM_PREFIXES[type] ?? 'item'}_${uuid.replaceAll('-', '')}`;
}

/** The UUID of the id of an item; undefined for text in another format. */
export function fromItemId(id: string): string | undefined {
  return uuidOf(ITEM_ID.exec(id)?.[1]);
}

/** The UUID of the item, which has an id. */
export function uuidOfItem({ id }: JsonObject): string {
  const uuid = typeof id === 'string' ? fromItemId(id) : undefined;
  if (uuid === undefined) throw new Error('an item without an id of ours');
  return uuid;
}

/** The id of the response of an execution or a task. */
export function toResponseId(uuid: string): string {
  return `resp_${uuid.replaceAll('-', '')}`;
}

/** The UUID of the id of a response; undefined for text in another format. */
export function fromResponseId(id: string): string | undefined {
  return uuidOf(RESPONSE_ID.exec(id)?.[1]);
}

/** The UUID of 32 hexadecimal digits. */
export function uuidOf(hex: string): string;
export function uuidOf(hex: string | undefined): string | undefined;
export function uuidOf(hex: string | undefined): string | undefined {
  return hex?.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
