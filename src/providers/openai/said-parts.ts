import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { listAt } from '../http/json-fields.js';
import { knownFieldsOf } from '../text/message-fields.js';

/** What a message or a delta of a choice says in words, as parts: reasoning first. */
export function saidPartsOf(message: JsonObject, { logprobs }: JsonObject): ChatPart[] {
  const { content, refusal, reasoning, reasoning_content } = knownFieldsOf(message);
  const parts: ChatPart[] = [];
  const thought = textOf(reasoning_content) || textOf(reasoning);
  const text = textOf(content);
  const refused = textOf(refusal);
  if (thought !== '') parts.push({ type: 'reasoning', text: thought });
  if (text !== '') {
    const tokens = isJsonObject(logprobs) ? listAt(logprobs, 'content') : null;
    parts.push({ type: 'text', text, ...(tokens && { logprobs: tokens }) });
  }
  if (refused !== '') parts.push({ type: 'refusal', text: refused });
  return parts;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
