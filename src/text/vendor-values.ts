import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { UnusableAnswer } from '../providers/ports/unusable-answer.js';

/** Objects and lists in one another. The vendor's events are checked before. */
const MAX_DEPTH = 32;
/** What tells the caller of the vendor's account or its price, and padding against listeners on the line to the vendor. */
const VENDORS_OWN =
  /^(organization(_id)?|project(_id)?|request_id|obfuscation|provider(_.*)?|upstream_.*|cost(_.*)?)$/;

/** The value that a field of a vendor has for the caller; undefined where it stays as it is. */
export type OwnValueOf = (name: string, value: unknown) => unknown;

/**
 * A vendor's object as its caller gets it: without what is the vendor's own, and with the gateway's names. Throws
 * {@link UnusableAnswer} for one that is too deep.
 */
export function shownObject(object: JsonObject, ownValueOf: OwnValueOf, depth = 0): JsonObject {
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(object)) {
    if (VENDORS_OWN.test(name)) continue;
    fields[name] = ownValueOf(name, value) ?? shownValue(value, ownValueOf, depth + 1);
  }
  return fields;
}

function shownValue(value: unknown, ownValueOf: OwnValueOf, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new UnusableAnswer('bad_chunk');
  if (Array.isArray(value)) return value.map((entry) => shownValue(entry, ownValueOf, depth + 1));
  return isJsonObject(value) ? shownObject(value, ownValueOf, depth) : value;
}
