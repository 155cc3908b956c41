/** A JSON object. */
export type JsonRecord = Readonly<Record<string, unknown>>;

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
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonRecord) : undefined;
}

/** The value if it is a JSON array. */
export function asArray(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? (value as unknown[]) : undefined;
}
