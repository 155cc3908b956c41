import { isJsonObject, type JsonObject } from '../../common/json-object.js';

/** A JSON object. */
export type JsonRecord = JsonObject;

/** The value of a JSON text; undefined for a text that is not JSON. */
export function parseJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The value if it is a JSON object. */
export function asRecord(value: unknown): JsonRecord | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** The value if it is a JSON array. */
export function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as unknown[]) : undefined;
}
