import type { JsonObject } from '../../common/json-object.js';
import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt-context.js';

/** A whole answer has at most this many bytes. A larger one is a failure of the provider. */
export const MAX_COMPLETION_BYTES = 16 * 1024 * 1024;
/** As many as fit into these bytes where each token comes with the 20 likeliest others. */
export const MAX_COMPLETION_VALUES = 2_500_000;
/** An answer has one choice, and no vendor sends more than these. */
export const MAX_CHOICES = 32;
/** The calls of tools that one choice may have. An answer with more is a failure of the provider. */
export const MAX_TOOL_CALLS = 1_024;

/** The two names of the cap on the output. */
export type OutputCapParameter = 'max_tokens' | 'max_completion_tokens';

/** A conversation for which a reply is wanted. */
export interface ChatCommand {
  /** Messages in order, in OpenAI's format. */
  readonly messages: readonly JsonObject[];
  /** The cap on the output. Without one, a provider could make more than is held. */
  readonly maxTokens: number;
  /** The name by which the caller sent the cap. The row's own name comes before it. */
  readonly outputCapParameter?: OutputCapParameter | undefined;
  /** Further validated fields under their wire names, such as `temperature` and `tools`. They are sent unchanged. */
  readonly parameters?: JsonObject | undefined;
}

/** Whole numbers by name, such as `audio_tokens`. */
export type TokenDetails = Readonly<Record<string, number>>;

/** Tokens of one answer as the provider counted them. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that the provider had cached; null where not reported. */
  readonly cachedTokens: number | null;
  /** Completion tokens of hidden reasoning; null where not reported. */
  readonly reasoningTokens: number | null;
  /** What the reported total has beyond everything that the report names; absent where nothing (decision G-23). */
  readonly surplusTokens?: number;
  /** Further counts of the prompt's and of the completion's parts, by their names in OpenAI's format. */
  readonly promptDetails?: TokenDetails | undefined;
  readonly completionDetails?: TokenDetails | undefined;
}

/** A whole answer: the provider's completion object, which still contains the provider's name of the model. */
export interface ChatResult {
  readonly completion: JsonObject;
  readonly usage: TokenUsage | null;
  readonly providerRequestId: string | null;
}

/**
 * One event of a streamed answer: the provider's chunk object, which still contains the provider's name of the model.
 */
export interface ChatChunk {
  readonly chunk: JsonObject;
  /** Present on a chunk that reports usage; the last report counts. */
  readonly usage: TokenUsage | null;
}

/** A streamed answer whose first chunk has arrived. */
export interface ChatStream {
  /**
   * Object stream of {@link ChatChunk}, each as soon as it arrives. Ends when the answer is whole (decision G-24), at
   * most 5 s after the last reason to end. Fails with a `ProviderError` when the provider breaks off or reports an error
   * before. Destroying it closes the upstream connection.
   */
  readonly body: Readable;
  readonly providerRequestId: string | null;
  /** Makes the error of an answer that its reader cannot use, from our own code, and closes the upstream connection. */
  readonly unusable: (code: string) => Error;
}

/** Chat completions (API: POST /v1/chat/completions). */
export interface ChatPort {
  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult>;
  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream>;
}
