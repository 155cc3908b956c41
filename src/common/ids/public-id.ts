const HEX_32 = /^[0-9a-f]{32}$/;

/** Prefix of a public id: `exec_…`, `acct_…`, `key_…`, `task_…`, `entry_…`. */
export type IdPrefix = 'exec' | 'acct' | 'key' | 'task' | 'entry' | 'whd';

/** The public form of a UUID: prefix, underscore, 32 hexadecimal digits. */
export function toPublicId(prefix: IdPrefix, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '')}`;
}

/** The UUID of a public id; undefined for text in another format. */
export function fromPublicId(prefix: IdPrefix, text: string): string | undefined {
  if (!text.startsWith(`${prefix}_`)) return undefined;
  const hex = text.slice(prefix.length + 1);
  if (!HEX_32.test(hex)) return undefined;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
