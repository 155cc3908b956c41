import { isJsonObject, type JsonObject } from '../common/json-object.js';

/**
 * Fields whose text no model writes: ids, words of the format, signatures, data, and what was found elsewhere. Text in
 * any other field counts, under whatever name a vendor sends it.
 */
const UNCOUNTED: ReadonlySet<string> = new Set([
  ...['id', 'tool_call_id', 'call_id', 'role', 'type', 'format', 'status', 'finish_reason'],
  ...['signature', 'thought_signature', 'thoughtSignature', 'extra_content'],
  ...['data', 'encrypted_content', 'url', 'image_url', 'detail', 'mime_type', 'annotations'],
]);

/**
 * The texts of a message or a delta. The same text under two names counts once: vendors repeat their reasoning for
 * clients of one another.
 */
export function textsOf(message: unknown): string[] {
  if (!isJsonObject(message)) return [];
  const texts: string[] = [];
  const seen: string[] = [];
  for (const key in message) {
    // A name beside a message is its speaker's; one within it is the name of a tool.
    if (key === 'name' || UNCOUNTED.has(key)) continue;
    const leaves: string[] = [];
    addLeaves(message[key], key, leaves);
    const [first] = leaves;
    if (first === undefined) continue;
    const whole = leaves.length === 1 ? first : leaves.join('');
    if (seen.includes(whole)) continue;
    seen.push(whole);
    texts.push(...leaves);
  }
  return texts;
}

function addLeaves(value: unknown, key: string, leaves: string[]): void {
  if (typeof value === 'string') {
    if (value !== '') leaves.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value) addLeaves(item, key, leaves);
  } else if (isJsonObject(value)) {
    // The caller gets it as text.
    if (key === 'arguments') leaves.push(JSON.stringify(value));
    else addFields(value, leaves);
  }
}

function addFields(object: JsonObject, leaves: string[]): void {
  const from = leaves.length;
  for (const key in object) {
    if (UNCOUNTED.has(key)) continue;
    const value = object[key];
    const isRepeated = typeof value === 'string' && leaves.includes(value, from);
    if (!isRepeated) addLeaves(value, key, leaves);
  }
}
