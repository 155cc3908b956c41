import type { JsonObject } from '../../common/json-object.js';
import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt.js';

/** Maximum bytes of a response that is not streamed. A larger one is a failure of the provider. */
export const MAX_COMPLETION_BYTES = 16 * 1024 * 1024;
/**
 * Maximum JSON values of such a response: as many as fit into these bytes if each token comes with the 20 likeliest
 * alternatives.
 */
export const MAX_COMPLETION_VALUES = 2_500_000;
/** A response has one choice, and no vendor sends more than these. */
export const MAX_CHOICES = 32;
/** Maximum tool calls of one choice. A response with more is a failure of the provider. */
export const MAX_TOOL_CALLS = 1_024;

/** The two parameter names of the output cap. */
export type OutputCapParameter = 'max_tokens' | 'max_completion_tokens';

/** A conversation for which a reply is wanted. */
export interface ChatCommand {
  /** Messages in order, in OpenAI's format. */
  readonly messages: readonly JsonObject[];
  /** The output cap. Without it a provider could generate more than the hold covers. */
  readonly maxTokens: number;
  /** The parameter name that the caller used for the cap. A name in the model row takes precedence. */
  readonly outputCapParameter?: OutputCapParameter | undefined;
  /** Further validated fields under their wire names, such as `temperature` and `tools`. They are sent unchanged. */
  readonly parameters?: JsonObject | undefined;
}

/** Whole numbers by name, such as `audio_tokens`. */
export type TokenDetails = Readonly<Record<string, number>>;

/** Tokens of one response as the provider counted them. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that the provider had cached; null where not reported. */
  readonly cachedTokens: number | null;
  /** Prompt tokens that the provider wrote to its cache for 5 minutes, and for an hour; absent where not reported. */
  readonly cacheWriteTokens?: number;
  readonly cacheWrite1hTokens?: number;
  /** Prompt tokens of images; absent where not reported. */
  readonly imageTokens?: number;
  /** Completion tokens of hidden reasoning; null where not reported. */
  readonly reasoningTokens: number | null;
  /** Tokens of the reported total that no other count explains; absent if there are none (decision G-23). */
  readonly surplusTokens?: number;
  /** Further counts of the prompt's and of the completion's parts, by their names in OpenAI's format. */
  readonly promptDetails?: TokenDetails | undefined;
  readonly completionDetails?: TokenDetails | undefined;
}

/** A complete response: the provider's completion object, which still contains the provider's model name. */
export interface ChatResult {
  readonly completion: JsonObject;
  readonly usage: TokenUsage | null;
  readonly providerRequestId: string | null;
}

/** One event of a streamed response: the provider's chunk object, which still contains the provider's model name. */
export interface ChatChunk {
  readonly chunk: JsonObject;
  /** Present on a chunk that reports usage; the last report counts. */
  readonly usage: TokenUsage | null;
}

/** A streamed response whose first chunk has arrived. */
export interface ChatStream {
  /**
   * Object stream of {@link ChatChunk}, each as soon as it arrives. Ends when the response is complete (decision G-24),
   * at most 5 s after the last finish reason. Fails with a `ProviderError` if the provider disconnects or reports an
   * error before. Destroying it closes the upstream connection.
   */
  readonly body: Readable;
  readonly providerRequestId: string | null;
  /**
   * Creates the error for a response that the gateway cannot use, from the gateway's own code, and closes the upstream
   * connection.
   */
  readonly unusable: (code: string) => Error;
}

/** Chat completions (API: POST /v1/chat/completions). */
export interface ChatPort {
  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult>;
  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream>;
}

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
