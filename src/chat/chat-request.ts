import type { ModelRow } from '../catalog/model-row.js';
import { isJsonObject, type JsonObject } from '../common/json-object.js';
import type { Route } from '../providers/ports/attempt.js';
import type { OutputCapParameter } from '../providers/ports/chat.port.js';
import { textsOf } from '../providers/text/message-texts.js';
import { isOnTheWeb } from '../text/text-fields.js';
import {
  lazily,
  longestWithLogprobs,
  type NamedImage,
  promptBound,
  type PromptText,
  type TextRequest,
} from '../text/text-request.js';
import { callableTools, conversationOf } from './chat-conversation.js';
import { checkMessages, partsOf, withContent } from './chat-messages.js';
import type { ChatBody } from './dto/chat.body.js';
import { knownRequestOf } from './known-request-fields.js';

/**
 * Turns a body into the provider's request. Everything but images is text of the prompt (decision G-23). Throws
 * `invalid_request` for invalid messages.
 */
export function chatRequestOf({ terms, routes }: ModelRow<'chat'>, body: ChatBody): TextRequest {
  checkMessages(body.messages);
  const { ignored, messages: known, ...shapes } = knownRequestOf(body, terms?.passFields);
  const rest = { ...parametersOf(body), ...shapes };
  const messages = known.map(withContent);
  const native = { messages, ...rest };
  const images = known.flatMap(partsOf).filter(isImage).length;
  const { stream, max_tokens, max_completion_tokens } = body;
  return {
    request: {
      protocol: 'chat',
      native,
      outputCapParameter: outputCapParameterOf(body),
      conversation: lazily(() => conversationOf(native)),
    },
    promptTokens: promptBound(JSON.stringify([known.map(withoutImages), rest]), images),
    maxTokens: max_completion_tokens ?? max_tokens,
    longestAnswerTokens: stream && !routes.some(repeats) ? undefined : longestAnswerTokens(rest),
    images: imagesOf(messages),
    ignored,
    prompt: (isNative) =>
      promptOf(native, (isNative ? shapes.tools : callableTools(native)) ?? [], images),
    affinity: body.prompt_cache_key,
  };
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

/** Whether a stream of the route ends with the whole answer, log probabilities included: an event that is read at once. */
const repeats = ({ upstreamProtocol }: Route): boolean => upstreamProtocol === 'responses';

/** Tokens of the longest answer that is read at once. */
function longestAnswerTokens({ logprobs, top_logprobs = 0 }: Partial<ChatBody>): number {
  if (logprobs !== true) return Infinity;
  return longestWithLogprobs(top_logprobs);
}

function promptOf(
  { messages, response_format: format }: Partial<ChatBody>,
  tools: readonly JsonObject[],
  images: number,
): PromptText {
  const texts = (messages ?? []).flatMap(textsOf);
  const shapes = [...(tools.length > 0 ? [tools] : []), ...(format ? [format] : [])];
  return {
    texts: [...texts, ...shapes.map((shape) => JSON.stringify(shape))],
    messages: messages?.length ?? 0,
    images,
  };
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

function imagesOf(messages: readonly JsonObject[]): NamedImage[] {
  return messages.flatMap((message, index) =>
    partsOf(message).flatMap(({ type, image_url: image }, partIndex) => {
      if (type !== 'image_url' || !isJsonObject(image) || typeof image.url !== 'string') return [];
      const param = `messages.${index}.content.${partIndex}.image_url.url`;
      return isOnTheWeb(image.url) ? [{ param, url: image.url }] : [];
    }),
  );
}
