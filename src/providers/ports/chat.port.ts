import type { JsonObject } from '../../common/json-object.js';
import type { Readable } from 'node:stream';
import type { AttemptContext } from './attempt.js';
import { type ChatPart, textOfPart } from './chat-parts.js';
import type { Conversation, FaceProtocol } from './conversation.js';

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

/** What a caller asks, as its face has checked it. */
export interface ChatRequest {
  /** The protocol that the caller speaks. */
  readonly protocol: FaceProtocol;
  /**
   * The body in that protocol, with the fields that may be sent. Without the model, the output cap and `stream`, which the
   * adapter adds. A vendor of the same protocol gets it as it is.
   */
  readonly native: JsonObject;
  /** Headers in that protocol, such as `anthropic-beta`, for a vendor of the same protocol. */
  readonly nativeHeaders?: Readonly<Record<string, string>> | undefined;
  /** The parameter name that a caller of the chat face used for the cap. A name in the model row takes precedence. */
  readonly outputCapParameter?: OutputCapParameter | undefined;
  /** The same in neutral parts, for a vendor of another protocol. */
  readonly conversation: () => Conversation;
}

/** A request with its output cap. */
export interface ChatCommand extends ChatRequest {
  /** The output cap, reasoning included. Without it a provider could generate more than the hold covers. */
  readonly maxTokens: number;
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

/** What the model says in one event of a stream, or in a whole answer. */
export interface ChatEvent {
  /** In neutral parts. May be empty where `native` is set. */
  readonly parts: readonly ChatPart[];
  /**
   * The vendor's own object, where the vendor speaks the protocol of the caller; else null. It still has the vendor's model
   * name and ids. Its face shows it to the caller, with names, ids and money of the gateway.
   */
  readonly native: JsonObject | null;
  /** Present where the event reports usage; the last report counts. */
  readonly usage: TokenUsage | null;
  /** The text that the model made, names and arguments of tools included: it is counted where no usage is reported. */
  readonly texts: readonly string[];
  /** Whether it has the reason for which the answer ended. Only the usage follows. */
  readonly hasFinish: boolean;
}

/** An event of parts, and the vendor's own object if it is native. */
export class PartsEvent implements ChatEvent {
  constructor(
    readonly parts: readonly ChatPart[],
    readonly usage: TokenUsage | null,
    readonly native: JsonObject | null = null,
  ) {}

  get texts(): string[] {
    return this.parts.map(textOfPart).filter((text) => text !== '');
  }

  get hasFinish(): boolean {
    return this.parts.some(({ type }) => type === 'finish');
  }
}

/** A complete answer. */
export interface ChatResult {
  readonly answer: ChatEvent;
  readonly providerRequestId: string | null;
}

/** A streamed answer whose first event has arrived. */
export interface ChatStream {
  /**
   * Object stream of {@link ChatEvent}, each as soon as it arrives. Ends when the response is complete (decision G-24),
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

/** Text of every face: chat completions, responses, messages. */
export interface ChatPort {
  complete(command: ChatCommand, context: AttemptContext): Promise<ChatResult>;
  stream(command: ChatCommand, context: AttemptContext): Promise<ChatStream>;
}
