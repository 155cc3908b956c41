/** Half of a surrogate pair without its other half. */
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** JSON that PostgreSQL can read again: a provider's texts may hold NUL and halves of surrogate pairs, which it refuses. */
export function storableJson(value: object): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'string' ? item.replaceAll('\0', '').replace(LONE_SURROGATE, '\ufffd') : item,
  );
}
