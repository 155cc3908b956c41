import type { JsonObject } from '../../common/json-object.js';
import { listAt } from '../http/json-fields.js';

/** What the vendor of Responses wants back of an item that it has encrypted: its own id, and of reasoning the summary. */
export function sealedValueOf(item: JsonObject): JsonObject | undefined {
  const { id, type, encrypted_content } = item;
  if (typeof encrypted_content !== 'string' || encrypted_content === '') return undefined;
  return {
    ...(typeof id === 'string' && { id }),
    ...(type === 'reasoning' && { summary: textsIn(item, 'summary') }),
    encrypted_content,
  };
}

/**
 * A reasoning item as the vendor takes it back; undefined where it is not encrypted. The value may come from a caller, who
 * could put anything in its place: nothing but its own fields is sent.
 */
export function encryptedItemOf({
  id,
  encrypted_content: encrypted,
  summary,
}: JsonObject): JsonObject | undefined {
  if (typeof encrypted !== 'string') return undefined;
  const texts = (Array.isArray(summary) ? (summary as readonly unknown[]) : []).filter(
    (text) => typeof text === 'string',
  );
  return {
    type: 'reasoning',
    ...(typeof id === 'string' && { id }),
    summary: texts.map((text) => ({ type: 'summary_text', text })),
    encrypted_content: encrypted,
  };
}

/** The texts of a list of parts, such as a summary. */
export function textsIn(item: JsonObject, name: string): string[] {
  return (listAt(item, name) ?? []).flatMap(({ text }) =>
    typeof text === 'string' && text !== '' ? [text] : [],
  );
}
