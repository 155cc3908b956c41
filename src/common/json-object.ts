/** A JSON object whose fields have not been checked. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object: neither an array nor null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * JSON of a parsed value with the keys of every object sorted, so that equal values give equal texts. The order of keys
 * and the spelling of numbers do not matter, and absent equals undefined.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}

/** Half of a surrogate pair, without the other half. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/**
 * JSON that PostgreSQL accepts. PostgreSQL rejects NUL and unpaired surrogates, which texts of providers may contain.
 */
export function postgresJson(value: object): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'string' ? item.replaceAll('\0', '').replace(LONE_SURROGATE, '\ufffd') : item,
  );
}
