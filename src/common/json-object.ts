/** A JSON object whose fields have not been checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
