import type { ChatLog, ChatRecord } from '../chat/chat-log.js';
import { type ChatReply, countPromptTokens, replyTo, tokensOf } from '../chat/chat-reply.js';
import { fillerTokens, MAX_REPLY_TOKENS, replyTokens } from '../chat/reply-tokens.js';
import { parseJson } from '../http/json.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { hashText } from '../media/seeded-random.js';
import type { ContentRequest } from './content-request.js';

/** Tokens of a picture in the prompt. */
const TOKENS_PER_IMAGE = 258;

/** An answer of the sandbox before it is written as JSON or as events. */
export interface MadeContent {
  readonly id: string;
  readonly request: ContentRequest;
  readonly record: ChatRecord;
  readonly reply: ChatReply;
  /** What is said, or the arguments of the call. */
  readonly tokens: readonly string[];
  readonly thoughts: readonly string[];
  readonly cachedTokens: number;
  readonly finishReason: 'STOP' | 'MAX_TOKENS';
}

/** What the sandbox answers: thoughts where they are wanted, then a text or the call of a function, within the cap. */
export function makeContent(
  exchange: SandboxExchange,
  request: ContentRequest,
  { chats, cachedTokens }: { readonly chats: ChatLog; readonly cachedTokens: number },
): MadeContent {
  const reply = replyTo(request);
  const thoughts = thoughtsOf(exchange, request);
  const { maxTokens: most = Infinity } = request;
  const maxTokens = Math.max(0, most - thoughts.length);
  const { tokens, isCut } = replyTokens(exchange, reply, { stops: request.stops, maxTokens });
  const promptTokens = countPromptTokens(request.texts) + request.imageCount * TOKENS_PER_IMAGE;
  return {
    id: exchange.requestId,
    request,
    reply,
    tokens,
    thoughts,
    cachedTokens: Math.min(cachedTokens, promptTokens),
    finishReason: isCut ? 'MAX_TOKENS' : 'STOP',
    record: chats.open({
      id: exchange.requestId,
      prompt: request.lastUserText,
      isStream: request.isStream,
      promptTokens,
      reasoningTokens: thoughts.length,
    }),
  };
}

/** Thoughts about the question, or as many tokens as `reasoning=N` says. */
function thoughtsOf({ magic }: SandboxExchange, request: ContentRequest): readonly string[] {
  const wanted = magic.number('reasoning', MAX_REPLY_TOKENS);
  if (wanted === undefined && request.thinking === undefined) return [];
  const text = '**Reading the question** I look for what is asked, and then I answer it.';
  const tokens = wanted === undefined ? tokensOf(text) : fillerTokens(wanted);
  return tokens.slice(0, request.maxTokens);
}

/** A thought as a part; none where thoughts are not shown. */
export function thoughtPart({ request }: MadeContent, text: string): object[] {
  return request.thinking === 'shown' && text !== '' ? [{ text, thought: true }] : [];
}

/** The call as a part; none where the cap has cut it. Its signature is wanted back. */
export function callPart({ id, reply, tokens, finishReason }: MadeContent): object[] {
  if (reply.kind !== 'call' || finishReason === 'MAX_TOKENS') return [];
  const args = parseJson(tokens.join('')) ?? {};
  const thoughtSignature = Buffer.from(`sandbox:${hashText(reply.name)}`).toString('base64');
  return [{ functionCall: { id: id.slice(-8), name: reply.name, args }, thoughtSignature }];
}

/** What one event or a whole answer says. */
interface Said {
  readonly parts: readonly object[];
  readonly finishReason?: string;
  readonly usage?: object | undefined;
}

/** An event, or a whole answer. */
export function contentAnswer(
  { id, request: { model } }: Pick<MadeContent, 'id'> & { readonly request: { model: string } },
  { parts, finishReason, usage }: Said,
): object {
  return {
    candidates: [
      {
        content: { parts, role: 'model' },
        ...(finishReason !== undefined && { finishReason }),
        index: 0,
      },
    ],
    ...(usage && { usageMetadata: usage }),
    modelVersion: model,
    responseId: id,
  };
}

/** The answer to a prompt that was blocked. */
export function refusedAnswer(exchange: SandboxExchange, content: MadeContent): object {
  const { id, request } = content;
  return {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: usageOfContent(exchange, content),
    modelVersion: request.model,
    responseId: id,
  };
}

/** The usage; undefined with `no-usage`, all zero with `zero-usage`. */
export function usageOfContent(
  { magic }: SandboxExchange,
  { record, thoughts, cachedTokens, request }: MadeContent,
): object | undefined {
  if (magic.has('no-usage')) return undefined;
  const of = (tokens: number): number => (magic.has('zero-usage') ? 0 : tokens);
  const { promptTokens, completionTokens } = record;
  const images = request.imageCount * TOKENS_PER_IMAGE;
  return {
    promptTokenCount: of(promptTokens),
    ...(cachedTokens > 0 && { cachedContentTokenCount: of(cachedTokens) }),
    candidatesTokenCount: of(completionTokens),
    ...(thoughts.length > 0 && { thoughtsTokenCount: of(thoughts.length) }),
    totalTokenCount: of(promptTokens + completionTokens + thoughts.length),
    promptTokensDetails: [
      { modality: 'TEXT', tokenCount: of(promptTokens - images) },
      ...(images > 0 ? [{ modality: 'IMAGE', tokenCount: of(images) }] : []),
    ],
  };
}
