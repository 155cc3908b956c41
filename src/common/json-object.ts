/** A JSON object whose fields nobody has checked yet. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: no array, not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
