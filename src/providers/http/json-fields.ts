/** A JSON object of a provider's answer. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** A text field of a provider's answer; null when it is missing or something else. */
export function textAt(object: JsonFields, key: string): string | null {
  const value = object[key];
  return typeof value === 'string' ? value : null;
}

/** A finite number of a provider's answer; null when it is missing or something else. */
export function numberAt(object: JsonFields, key: string): number | null {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The objects of a list in a provider's answer; null when there is no list. */
export function listAt(object: JsonFields, key: string): JsonFields[] | null {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isFields) : null;
}

/** Whether a value is a JSON object. */
export function isFields(value: unknown): value is JsonFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
