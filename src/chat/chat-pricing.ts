import type { Fit, Quote } from '../common/money/charge-basis.js';
import type { JsonObject } from '../common/json-object.js';
import type { ModelRow } from '../catalog/model-row.js';
import { factorOf } from '../catalog/price-factor.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import { linesOf, type PriceLine, sumOf } from '../common/money/price-lines.js';
import {
  type ChatCommand,
  type OutputCapParameter,
  MAX_COMPLETION_BYTES,
  type TokenUsage,
} from '../providers/ports/chat.port.js';
import { countsOf, unitPricesOf } from './charge-basis.js';
import { ChatCeiling } from './chat-ceiling.js';
import { checkMessages, partsOf, withContent } from './chat-messages.js';
import type { ChatBody } from './dto/chat.body.js';
import { knownRequestOf } from './known-request-fields.js';

/** Tokens counted for an image, whatever its size (decision G-23). */
export const IMAGE_TOKENS = 4_096;

/**
 * Maximum bytes of one token with its log probability in a response; providers send lists of bytes, one number per
 * line.
 */
const LOGPROB_BYTES = 300;

/** A checked request: what the provider gets, and what to hold for it. */
export interface ChatQuote {
  /** Its output cap is known once the money is held (held-chat.ts). */
  readonly request: Omit<ChatCommand, 'maxTokens'>;
  readonly hold: Quote;
  /** The lines of a hold for so many output tokens. */
  readonly linesFor: (outputTokens: number) => readonly PriceLine[];
  /** The output cap that the caller wants, within the model's own; undefined: what the hold pays for (decision G-106). */
  readonly maxTokens: number | undefined;
  /** Whether the caller wants a stream to show its usage. */
  readonly showsUsage: boolean;
  /** The fields of the request that are not sent on (decision G-92). */
  readonly ignored: readonly string[];
}

/**
 * Turns a body into a quote: the provider's request and what to hold. The ceiling counts one token per byte of everything
 * in the prompt, 4,096 per image, and the output cap, each at its dearest price (decision G-23). Without a cap of the
 * caller's, at least the model's fewest output tokens are held. Throws `invalid_request` for invalid messages.
 */
export function quoteOf(row: ModelRow<'chat'>, body: ChatBody): ChatQuote {
  checkMessages(body.messages);
  const { ignored, messages, ...known } = knownRequestOf(body, row.terms?.passFields);
  const rest = { ...parametersOf(body), ...known };
  const { stream, stream_options, max_tokens, max_completion_tokens } = body;
  const wanted = max_completion_tokens ?? max_tokens;
  const ofModel = row.limits.maxOutputTokens;
  const most = Math.min(ofModel, stream ? ofModel : longestResponseTokens(rest));
  const maxTokens = wanted === undefined ? undefined : Math.min(wanted, most);
  const prompt = JSON.stringify([messages.map(withoutImages), rest]);
  const promptTokens = Buffer.byteLength(prompt) + imageTokens(messages);
  const ceiling = ChatCeiling.of(row.price, promptTokens);
  return {
    request: {
      messages: messages.map(withContent),
      outputCapParameter: outputCapParameterOf(body),
      parameters: rest,
    },
    hold: {
      amountMicroUsd: ceiling.amountFor(maxTokens ?? most),
      fit:
        maxTokens === undefined ? fitOf(ceiling, Math.min(row.minOutputTokens, most)) : undefined,
      basis: null,
      outputCapFor: (amount) => {
        const tokens = ceiling.tokensFor(amount, most);
        return tokens > 0 ? tokens : undefined;
      },
    },
    linesFor: (outputTokens) => ceiling.linesFor(outputTokens),
    maxTokens,
    showsUsage: stream && stream_options?.include_usage === true,
    ignored,
  };
}

function fitOf(ceiling: ChatCeiling, minOutputTokens: number): Fit {
  const promptMicroUsd = ceiling.amountFor(0);
  return { floorMicroUsd: ceiling.amountFor(minOutputTokens), promptMicroUsd };
}

/** The fields that are sent unchanged, without those that repeat the default behaviour (decision G-02). */
function parametersOf(body: ChatBody): Partial<ChatBody> {
  const { model, messages, stream, stream_options, max_tokens, max_completion_tokens, ...rest } =
    body;
  const { service_tier, modalities, ...parameters } = rest;
  return parameters;
}

function outputCapParameterOf(body: ChatBody): OutputCapParameter | undefined {
  if (body.max_completion_tokens !== undefined) return 'max_completion_tokens';
  return body.max_tokens === undefined ? undefined : 'max_tokens';
}

/** The charge, and whether it was reduced to the ceiling. */
export interface ChatCharge {
  readonly chargedMicroUsd: MicroUsd;
  readonly isCapped: boolean;
}

/** The charge of the usage: the sum of its lines, rounded up once (decision G-23), at most the ceiling. */
export function chargeOf(
  row: ModelRow<'chat'>,
  usage: TokenUsage,
  ceilingMicroUsd: MicroUsd,
): ChatCharge {
  const quantity = countsOf(usage);
  const unitPrice = unitPricesOf(row.price, quantity);
  const charge = sumOf(linesOf({ unit: 'token', quantity, unitPrice }), factorOf(row.price));
  const isCapped = charge > ceilingMicroUsd;
  return { chargedMicroUsd: isCapped ? ceilingMicroUsd : charge, isCapped };
}

/** Tokens of all images in the messages. */
export function imageTokens(messages: readonly JsonObject[]): number {
  return messages.flatMap(partsOf).filter(isImage).length * IMAGE_TOKENS;
}

/**
 * Tokens of the longest response that the gateway can read completely. The provider would bill a longer one, and the
 * caller would not get it.
 */
function longestResponseTokens({ logprobs, top_logprobs = 0 }: Partial<ChatBody>): number {
  if (logprobs !== true) return Infinity;
  return Math.floor(MAX_COMPLETION_BYTES / (LOGPROB_BYTES * (1 + top_logprobs)));
}

function withoutImages(message: JsonObject): JsonObject {
  const parts = partsOf(message);
  if (!parts.some(isImage)) return message;
  return { ...message, content: parts.map((part) => (isImage(part) ? withoutUrl(part) : part)) };
}

function withoutUrl(part: JsonObject): JsonObject {
  return { ...part, image_url: { ...(part.image_url as JsonObject), url: '' } };
}

function isImage({ type }: JsonObject): boolean {
  return type === 'image_url';
}
