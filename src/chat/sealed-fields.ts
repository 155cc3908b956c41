import { isJsonObject, type JsonObject } from '../common/json-object.js';
import type { SealedPart, TextProtocol } from '../providers/ports/conversation.js';

/** The type of a part of `reasoning_details` that a vendor of another protocol made. */
const SEALED = 'reasoning.sealed';
const FAMILIES: readonly unknown[] = ['responses', 'messages', 'gemini'] satisfies TextProtocol[];

/** A vendor's own part of reasoning, as an item of `reasoning_details`. Callers send it back with the message. */
export function reasoningDetailOf({ family, value }: SealedPart): JsonObject {
  return { type: SEALED, family, value };
}

/** The vendors' own parts in a message that a caller sends back. */
export function sealedReasoningOf({ reasoning_details: details }: JsonObject): SealedPart[] {
  const items = Array.isArray(details) ? details.filter(isJsonObject) : [];
  return items.filter(({ type }) => type === SEALED).flatMap(sealedOf);
}

/** A vendor's own part of a call, as `extra_content`. */
export function extraContentOf({ family, value }: SealedPart): JsonObject {
  return family === 'chat' ? value : { family, value };
}

/** The vendor's own part of a call that a caller sends back. */
export function sealedCallOf({ extra_content: extra }: JsonObject): SealedPart | undefined {
  if (!isJsonObject(extra)) return undefined;
  return sealedOf(extra)[0] ?? { family: 'chat', value: extra };
}

function sealedOf({ family, value }: JsonObject): SealedPart[] {
  if (!FAMILIES.includes(family) || !isJsonObject(value)) return [];
  return [{ family: family as TextProtocol, value }];
}
