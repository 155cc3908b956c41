import { type ChatRequest, MAX_COMPLETION_BYTES } from '../providers/ports/chat.port.js';

/** Tokens counted for an image, whatever its size (decision G-23). */
export const IMAGE_TOKENS = 4_096;
/**
 * Maximum bytes of one token with its log probability in a response; providers send lists of bytes, one number per
 * line.
 */
const LOGPROB_BYTES = 300;

/** An image on the web, and the field that names it. */
export interface NamedImage {
  readonly param: string;
  readonly url: string;
}

/** What a prompt consists of, to be counted where the provider does not report it. */
export interface PromptText {
  readonly texts: readonly string[];
  readonly messages: number;
  readonly images: number;
}

/** The prompt as a vendor of the face's own protocol gets it (`isNative`), or any other vendor. */
export type PromptOf = (isNative: boolean) => PromptText;

/** What a face makes of a body, before anything is held. */
export interface TextRequest {
  /** What the provider gets, but for the output cap. */
  readonly request: ChatRequest;
  /** An upper bound of the prompt's tokens ({@link promptBound}). */
  readonly promptTokens: number;
  /** The output cap that the caller wants; undefined: what the hold pays for (decision G-106). */
  readonly maxTokens: number | undefined;
  /** Tokens of the longest answer that the gateway can read completely; undefined: any. */
  readonly longestAnswerTokens?: number | undefined;
  /** The images with an http(s) URL. */
  readonly images: readonly NamedImage[];
  /** The fields of the body that are not sent on (decisions G-92, G-107). */
  readonly ignored: readonly string[];
  readonly prompt: PromptOf;
  /** The caller's name of a cache or a session: its calls stay with one vendor and key, whose caches know their prompts. */
  readonly affinity?: string | undefined;
}

/**
 * An upper bound of the prompt's tokens: one for each byte of everything that the provider gets as JSON, the images left
 * out, and 4,096 for each image (decision G-23).
 */
export function promptBound(json: string, images: number): number {
  return Buffer.byteLength(json) + images * IMAGE_TOKENS;
}

/**
 * Tokens of the longest answer with log probabilities that the gateway can read completely, with so many likely tokens
 * beside each. The provider would bill a longer one, and the caller would not get it.
 */
export function longestWithLogprobs(alternatives: number): number {
  return Math.floor(MAX_COMPLETION_BYTES / (LOGPROB_BYTES * (1 + alternatives)));
}

/** Makes a value when it is first asked for. */
export function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
