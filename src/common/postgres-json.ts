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
