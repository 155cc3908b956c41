import { isJsonObject, type JsonObject } from '../../common/json-object.js';

/**
 * Fields whose text is not written by the model: ids, words of the format, signatures, data, and search results. Text
 * in any other field counts, whatever name a vendor gives the field.
 */
const UNCOUNTED: ReadonlySet<string> = new Set([
  ...['id', 'tool_call_id', 'call_id', 'role', 'type', 'format', 'status', 'finish_reason'],
  ...['signature', 'thought_signature', 'thoughtSignature', 'extra_content'],
  ...['data', 'encrypted_content', 'url', 'image_url', 'detail', 'mime_type', 'annotations'],
]);

/** Texts in the order of their appearance, and the last position of each. */
class Leaves {
  readonly texts: string[] = [];
  private readonly lastAt = new Map<string, number>();

  add(text: string): void {
    if (text === '') return;
    this.lastAt.set(text, this.texts.length);
    this.texts.push(text);
  }

  /** Whether the text appears at this position or later. */
  hasSince(position: number, text: string): boolean {
    return (this.lastAt.get(text) ?? -1) >= position;
  }
}

/**
 * The texts of a message or a delta. The same text in two fields counts once: vendors send their reasoning under
 * several names for compatibility.
 */
export function textsOf(message: unknown): string[] {
  if (!isJsonObject(message)) return [];
  const texts: string[] = [];
  const seen = new Set<string>();
  for (const key in message) {
    // The `name` of a message is its speaker; a `name` inside it is the name of a tool.
    if (key === 'name' || UNCOUNTED.has(key)) continue;
    const value = message[key];
    const leaves = typeof value === 'string' ? textAlone(value) : leavesOf(value, key);
    const [first] = leaves;
    if (first === undefined) continue;
    const whole = leaves.length === 1 ? first : leaves.join('');
    if (seen.has(whole)) continue;
    seen.add(whole);
    // Not `push(...leaves)`: spread arguments are put on the stack, and there may be a hundred thousand.
    for (const leaf of leaves) texts.push(leaf);
  }
  return texts;
}

function textAlone(text: string): string[] {
  return text === '' ? [] : [text];
}

function leavesOf(value: unknown, key: string): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const leaves = new Leaves();
  addLeaves(value, key, leaves);
  return leaves.texts;
}

function addLeaves(value: unknown, key: string, leaves: Leaves): void {
  if (typeof value === 'string') leaves.add(value);
  else if (Array.isArray(value)) {
    for (const item of value) addLeaves(item, key, leaves);
  } else if (isJsonObject(value)) {
    // The caller gets it as text.
    if (key === 'arguments') leaves.add(JSON.stringify(value));
    else addFields(value, leaves);
  }
}

function addFields(object: JsonObject, leaves: Leaves): void {
  const from = leaves.texts.length;
  for (const key in object) {
    if (UNCOUNTED.has(key)) continue;
    const value = object[key];
    const isRepeated = typeof value === 'string' && leaves.hasSince(from, value);
    if (!isRepeated) addLeaves(value, key, leaves);
  }
}
