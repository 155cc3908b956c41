import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { Injectable } from '@nestjs/common';
import type { ChatCommand, TokenUsage } from '../providers/ports/chat.port.js';
import type { CountedUsage } from './charge-basis.js';
import { imageTokens } from './chat-quote.js';
import type { Made } from './made-text.js';
import { TokenCounter } from './tokens/token-counter.js';

/** Tokens in addition to the text, for each message and for the reply. */
const TOKENS_PER_MESSAGE = 3;
const TOKENS_PER_REPLY = 3;

/** Usage of calls: the provider's numbers if it reports them, even zero; otherwise counted here (decision G-23). */
@Injectable()
export class ChatUsage {
  constructor(private readonly counter: TokenCounter) {}

  /** `reported` if it is plausible, else the tokens of the prompt and of the text that was made. */
  async of(
    accountId: string,
    reported: TokenUsage | null,
    command: ChatCommand,
    made: () => Made,
  ): Promise<CountedUsage> {
    if (reported && isCount(reported.promptTokens) && isCount(reported.completionTokens)) {
      return { ...reported, isEstimated: false };
    }
    const { messages } = command;
    const { text, lostTokens } = made();
    const [prompt, completion] = await Promise.all([
      this.counter.count(accountId, promptTexts(command)),
      this.counter.count(accountId, [text]),
    ]);
    const around = messages.length * TOKENS_PER_MESSAGE + TOKENS_PER_REPLY;
    return {
      promptTokens: prompt.tokens + around + imageTokens(messages),
      completionTokens: completion.tokens + lostTokens,
      cachedTokens: null,
      reasoningTokens: null,
      isEstimated: prompt.isEstimated || completion.isEstimated || lostTokens > 0,
    };
  }
}

/** The texts of a message or a delta: content and its parts, reasoning, refusal, and calls of tools and functions. */
export function textsOf(message: unknown): string[] {
  if (!isJsonObject(message)) return [];
  const { content, reasoning_content: reasoning, refusal, tool_calls: calls } = message;
  const contents = Array.isArray(content) ? content.flatMap(textsOfPart) : [content];
  const called = Array.isArray(calls) ? calls.flatMap(textsOfCall) : [];
  return [...contents, reasoning, refusal, ...called, ...textsOfMade(message.function_call)].filter(
    isFilledText,
  );
}

function textsOfPart(part: unknown): unknown[] {
  return isJsonObject(part) ? [part.text, part.refusal] : [];
}

function textsOfCall(call: unknown): unknown[] {
  return isJsonObject(call) ? textsOfMade(call.function ?? call.custom) : [];
}

function textsOfMade(made: unknown): unknown[] {
  return isJsonObject(made) ? [made.name, made.arguments, made.input] : [];
}

function promptTexts({ messages, parameters }: ChatCommand): string[] {
  const texts = messages.flatMap(textsOf);
  const shapes = [parameters?.tools, parameters?.response_format].filter(
    (shape) => shape !== undefined,
  );
  return [...texts, ...shapes.map((shape) => JSON.stringify(shape))];
}

function isFilledText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** The usage object of the answer: our totals, with the provider's numbers of cached and reasoning tokens. */
export function viewTokenUsage(usage: TokenUsage, reported: unknown): JsonObject {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = isJsonObject(
    reported,
  )
    ? reported
    : {};
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...(isJsonObject(prompt) && { prompt_tokens_details: prompt }),
    ...(isJsonObject(completion) && { completion_tokens_details: completion }),
  };
}
