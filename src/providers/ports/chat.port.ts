import type { JsonObject } from '../../common/json-object.js';
import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt-context.js';

/** A conversation to be continued. */
export interface ChatCommand {
  /** Messages in order, in the shape of the spec. */
  readonly messages: readonly JsonObject[];
  readonly maxTokens?: number | undefined;
  /**
   * Further validated fields under their wire names, like `temperature` and `tools`; sent as they
   * are.
   */
  readonly parameters?: JsonObject | undefined;
}

/** Tokens of one answer as the provider counted them. */
export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Prompt tokens that the provider had cached; null where not reported. */
  readonly cachedTokens: number | null;
  /** Completion tokens of hidden reasoning; null where not reported. */
  readonly reasoningTokens: number | null;
}

/**
 * A whole answer: the provider's completion object, which still carries the provider's model name.
 */
export interface ChatResult {
  readonly completion: JsonObject;
  readonly usage: TokenUsage | null;
  readonly providerRequestId: string | null;
}

/**
 * One event of a streamed answer: the provider's chunk object, which still carries the provider's
 * model name.
 */
export interface ChatChunk {
  readonly chunk: JsonObject;
  /** Set on the chunk that reports usage: the last one, whose `choices` are empty. */
  readonly usage: TokenUsage | null;
}

/** A streamed answer whose first chunk has arrived. */
export interface ChatStream {
  /**
   * Object stream of {@link ChatChunk}, each as soon as it arrives; ends at the provider's
   * `[DONE]`. Errors with a `ProviderError` when the provider breaks off or reports an error;
   * destroying it closes the upstream connection.
   */
  readonly body: Readable;
  readonly providerRequestId: string | null;
}

/** Chat completions (spec: POST /v1/chat/completions). */
export interface ChatPort {
  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult>;
  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream>;
}
