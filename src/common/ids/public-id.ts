const HEX_32 = /^[0-9a-f]{32}$/;
/** Bound on the text of an id in a query, so that a wrong one is told and not searched for. */
export const MAX_ID_CHARS = 100;

/** Prefix of a public id: `exec_…`, `acct_…`, `key_…`, `task_…`, `entry_…`. */
export type IdPrefix = 'exec' | 'acct' | 'key' | 'task' | 'entry' | 'whd' | 'whe' | 'ses';

/** The public form of a UUID: prefix, underscore, 32 hexadecimal digits. */
export function toPublicId(prefix: IdPrefix, uuid: string): string {
  return `${prefix}_${uuid.replaceAll('-', '')}`;
}

/** Prefix of the id of a chat completion; the digits are those of its execution. Every client shows this id. */
const COMPLETION_PREFIX = 'chatcmpl-';
/** Prefixes of the ids of answers that are those of their executions. */
const MESSAGE_PREFIX = 'msg_';
const ANSWER_PREFIXES = [COMPLETION_PREFIX, 'resp_', MESSAGE_PREFIX];

/** The id of the chat completion of an execution. */
export function toCompletionId(executionUuid: string): string {
  return `${COMPLETION_PREFIX}${executionUuid.replaceAll('-', '')}`;
}

/** The id of the message of an execution. */
export function toMessageId(executionUuid: string): string {
  return `${MESSAGE_PREFIX}${executionUuid.replaceAll('-', '')}`;
}

/** The UUID of a public id; of an execution also that of its answer's id. Undefined for text in another format. */
export function fromPublicId(prefix: IdPrefix, text: string): string | undefined {
  const ofAnswer = prefix === 'exec' ? ANSWER_PREFIXES : [];
  const lead = ofAnswer.find((begin) => text.startsWith(begin)) ?? `${prefix}_`;
  if (!text.startsWith(lead)) return undefined;
  const hex = text.slice(lead.length);
  if (!HEX_32.test(hex)) return undefined;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
