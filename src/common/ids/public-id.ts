const HEX_32 = /^[0-9a-f]{32}$/;

/** Prefix of a public id: `exec_…`, `acct_…`, `key_…`, `task_…`, `entry_…`. */
export type IdPrefix = 'exec' | 'acct' | 'key' | 'task' | 'entry' | 'whd' | 'whe';

/** The public form of a UUID: prefix, underscore, 32 hexadecimal digits. */
export function toPublicId(prefix: IdPrefix, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '')}`;
}

/** Prefix of the id of a chat completion; the digits are those of its execution. Every client shows this id. */
const COMPLETION_PREFIX = 'chatcmpl-';

/** The id of the chat completion of an execution. */
export function toCompletionId(executionUuid: string): string {
  return `${COMPLETION_PREFIX}${executionUuid.replaceAll('-', '')}`;
}

/** The UUID of a public id; of an execution also that of its chat completion's id. Undefined for text in another format. */
export function fromPublicId(prefix: IdPrefix, text: string): string | undefined {
  const lead =
    prefix === 'exec' && text.startsWith(COMPLETION_PREFIX) ? COMPLETION_PREFIX : `${prefix}_`;
  if (!text.startsWith(lead)) return undefined;
  const hex = text.slice(lead.length);
  if (!HEX_32.test(hex)) return undefined;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
