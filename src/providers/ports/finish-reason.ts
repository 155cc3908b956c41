import type { JsonObject } from '../../common/json-object.js';

/** Why a response ended, in OpenAI's words. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call';

/** The words of OpenAI and of other vendors, in small letters. */
const WORDS: ReadonlyMap<string, FinishReason> = new Map([
  ...(['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const).map(
    (word) => [word, word] as const,
  ),
  ...(['eos', 'eos_token', 'end_turn', 'stop_sequence', 'complete', 'completed'] as const).map(
    (word) => [word, 'stop'] as const,
  ),
  ...(
    ['max_tokens', 'max_output_tokens', 'model_length', 'model_context_window_exceeded'] as const
  ).map((word) => [word, 'length'] as const),
  ...(['tool_use', 'tool_call', 'tool-calls'] as const).map(
    (word) => [word, 'tool_calls'] as const,
  ),
  ...(
    [
      'safety',
      'recitation',
      'blocklist',
      'prohibited_content',
      'spii',
      'refusal',
      'sensitive',
    ] as const
  ).map((word) => [word, 'content_filter'] as const),
]);
/** Values by which vendors say that the response continues. */
const NONE: ReadonlySet<string> = new Set(['', 'null', 'none', 'finish_reason_unspecified']);

/**
 * The finish reason of a choice; null while it continues. An unknown word becomes `tool_calls` if tools were called,
 * else `stop` (decision G-24).
 */
export function finishReasonOf(
  { finish_reason: reason }: JsonObject,
  hasCalls: boolean,
): FinishReason | null {
  if (!isReason(reason)) return null;
  return WORDS.get(reason.toLowerCase()) ?? missingReason(hasCalls);
}

/** Whether a vendor's `finish_reason` says that its choice has ended. */
export function isReason(reason: unknown): reason is string {
  return typeof reason === 'string' && !NONE.has(reason.toLowerCase());
}

/** The reason of a choice that ended without one. */
export function missingReason(hasCalls: boolean): FinishReason {
  return hasCalls ? 'tool_calls' : 'stop';
}
