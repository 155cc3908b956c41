import type { JsonObject } from '../../common/json-object.js';

/** The protocols of text. Callers speak the first three, vendors all of them. */
export type TextProtocol = 'chat' | 'responses' | 'messages' | 'gemini';
/** A protocol that callers speak. */
export type FaceProtocol = Exclude<TextProtocol, 'gemini'>;

/** How long a vendor's prompt cache keeps everything up to a part. */
export type CacheTime = '5m' | '1h';

/** A piece of text. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly cache?: CacheTime | undefined;
}

/** An image by an http(s) URL or a data URI. */
export interface ImagePart {
  readonly type: 'image';
  readonly url: string;
  readonly detail?: string | undefined;
  readonly cache?: CacheTime | undefined;
  /** The path of the field in which the caller named it, for errors. */
  readonly param?: string | undefined;
}

/** A recording in base64. */
export interface AudioPart {
  readonly type: 'audio';
  readonly data: string;
  readonly format: string;
}

/** The words with which the model refused in an earlier answer. */
export interface RefusalPart {
  readonly type: 'refusal';
  readonly text: string;
}

/** A vendor's own part, such as a signature or encrypted reasoning. It is good for vendors of its protocol only. */
export interface SealedPart {
  readonly family: TextProtocol;
  readonly value: JsonObject;
}

/** Reasoning of an earlier answer. An adapter of another family than that of `sealed` leaves the sealed part out. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly sealed?: SealedPart | undefined;
}

/** A tool that the model called. `arguments` is JSON text for a function, and any text for a custom tool. */
export interface ToolCallPart {
  readonly type: 'tool-call';
  readonly id: string;
  readonly kind: 'function' | 'custom';
  readonly name: string;
  readonly arguments: string;
  /** What the vendor that made the call wants back with it. */
  readonly sealed?: SealedPart | undefined;
}

/** One message. Neighbours may have the same role. */
export type ConversationMessage =
  | { readonly role: 'system' | 'developer'; readonly parts: readonly TextPart[] }
  | {
      readonly role: 'user';
      readonly parts: readonly (TextPart | ImagePart | AudioPart)[];
      readonly name?: string | undefined;
    }
  | {
      readonly role: 'assistant';
      readonly parts: readonly (TextPart | RefusalPart | ReasoningPart | ToolCallPart)[];
    }
  | {
      readonly role: 'tool';
      readonly callId: string;
      readonly parts: readonly (TextPart | ImagePart)[];
      readonly isError?: boolean | undefined;
    };

/** A tool that the model may call. */
export type ChatTool =
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly description?: string | undefined;
      readonly parameters?: JsonObject | undefined;
      readonly strict?: boolean | undefined;
      readonly cache?: CacheTime | undefined;
    }
  | {
      readonly kind: 'custom';
      readonly name: string;
      readonly description?: string | undefined;
      readonly format?: JsonObject | undefined;
    };

/** Whether the model may, must or must not call a tool, or which one it must call. */
export type ToolChoice =
  'auto' | 'none' | 'required' | { readonly kind: 'function' | 'custom'; readonly name: string };

/** The form of the answer. */
export type AnswerFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name: string;
      readonly schema: JsonObject;
      readonly strict?: boolean | undefined;
      readonly description?: string | undefined;
    };

/** How the answer is generated. A vendor that does not know a setting does not get it. */
export interface ChatSettings {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly stop?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly logitBias?: JsonObject | undefined;
  readonly logprobs?: boolean | undefined;
  readonly topLogprobs?: number | undefined;
  /** `none`, `minimal`, `low`, `medium`, `high`, `xhigh` or `max`. */
  readonly reasoningEffort?: string | undefined;
  /** The most tokens of reasoning; 0: none. */
  readonly thinkingBudgetTokens?: number | undefined;
  readonly verbosity?: string | undefined;
  readonly parallelToolCalls?: boolean | undefined;
  readonly user?: string | undefined;
  readonly safetyIdentifier?: string | undefined;
  readonly promptCacheKey?: string | undefined;
  readonly promptCacheRetention?: string | undefined;
  readonly metadata?: JsonObject | undefined;
}

/** What a caller of any face asks, in neutral parts. Oldest message first. */
export interface Conversation {
  readonly messages: readonly ConversationMessage[];
  readonly tools: readonly ChatTool[];
  readonly toolChoice?: ToolChoice | undefined;
  readonly responseFormat?: AnswerFormat | undefined;
  readonly settings: ChatSettings;
}

/** Budgets of thinking up to these count as this effort; larger ones as `high`. */
const EFFORTS = [
  { effort: 'low', upToTokens: 4_096 },
  { effort: 'medium', upToTokens: 16_384 },
] as const;

/** The wanted effort of reasoning; where only a budget is given, the effort that it stands for. Undefined: none is said. */
export function effortOf({
  reasoningEffort,
  thinkingBudgetTokens: budget,
}: ChatSettings): string | undefined {
  if (reasoningEffort !== undefined || budget === undefined || budget === 0) return reasoningEffort;
  return EFFORTS.find(({ upToTokens }) => budget <= upToTokens)?.effort ?? 'high';
}
