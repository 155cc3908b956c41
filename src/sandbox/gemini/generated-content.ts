import { SystemClock } from '../../common/time/clock.js';
import type { ChatLog } from '../chat/chat-log.js';
import { PromptCache } from '../chat/prompt-cache.js';
import { isCutAt, paceToken, paceWhole, untilBreakEvent } from '../chat/reply-tokens.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { type ContentRequest, readContentRequest } from './content-request.js';
import { audioAnswer, imageAnswer } from './generated-media.js';
import {
  contentAnswer,
  callPart,
  type MadeContent,
  makeContent,
  refusedAnswer,
  thoughtPart,
  usageOfContent,
} from './made-content.js';

/** The vendor caches no shorter beginning of a prompt. */
const MIN_CACHED_TOKENS = 1_024;

const clock = new SystemClock();

/** `generateContent` and `streamGenerateContent`: text, calls of functions, pictures and speech. */
export class GeneratedContent {
  private readonly cache = new PromptCache();

  constructor(private readonly chats: ChatLog) {}

  /** One JSON object. */
  async answer(exchange: SandboxExchange, model: string): Promise<void> {
    const request = readContentRequest(exchange.body, model, false);
    if (request.modality === 'IMAGE')
      return exchange.json(200, await imageAnswer(exchange, request));
    if (request.modality === 'AUDIO')
      return exchange.json(200, await audioAnswer(exchange, request));
    const content = this.make(exchange, request);
    const { record, tokens, thoughts } = content;
    if (exchange.magic.has('refuse')) return exchange.json(200, refusedAnswer(exchange, content));
    await paceWhole(exchange, tokens.length + thoughts.length);
    record.isAborted = exchange.signal.aborted;
    record.completionTokens = tokens.length;
    record.isComplete = !record.isAborted;
    const parts = [...thoughtPart(content, thoughts.join('')), ...saidParts(content)];
    const { finishReason } = content;
    const usage = usageOfContent(exchange, content);
    await exchange.json(200, contentAnswer(content, { parts, finishReason, usage }));
  }

  /** The same as events, with one token each. */
  async stream(exchange: SandboxExchange, model: string): Promise<void> {
    const request = readContentRequest(exchange.body, model, true);
    const content = this.make(exchange, request);
    const events = untilBreakEvent(exchange, eventsOf(exchange, content));
    await exchange.send(200, { 'content-type': 'text/event-stream' }, events);
  }

  private make(exchange: SandboxExchange, request: ContentRequest): MadeContent {
    const { read } = this.cache.take(request.model, request.prompt, clock.nowMs());
    const cachedTokens = read < MIN_CACHED_TOKENS ? 0 : read;
    return makeContent(exchange, request, { chats: this.chats, cachedTokens });
  }
}

function saidParts(content: MadeContent): object[] {
  const { reply, tokens } = content;
  if (reply.kind === 'call') return callPart(content);
  return tokens.length === 0 ? [] : [{ text: tokens.join('') }];
}

async function* eventsOf(
  exchange: SandboxExchange,
  content: MadeContent,
): AsyncGenerator<Uint8Array> {
  const { record, reply, tokens, thoughts, finishReason } = content;
  if (exchange.magic.has('refuse')) {
    yield event(refusedAnswer(exchange, content));
    return;
  }
  try {
    for (const [at, token] of thoughts.entries()) {
      await paceToken(exchange, at);
      const parts = thoughtPart(content, token);
      if (parts.length > 0) yield event(contentAnswer(content, { parts }));
    }
    for (const [at, token] of tokens.entries()) {
      if (await isCutAt(exchange, at)) {
        if (exchange.magic.has('error-after')) yield lateError();
        return;
      }
      // A call comes whole, once all of it is made.
      if (reply.kind === 'text') yield event(contentAnswer(content, { parts: [{ text: token }] }));
      record.completionTokens++;
    }
    if (reply.kind === 'call') yield event(contentAnswer(content, { parts: callPart(content) }));
    const usage = usageOfContent(exchange, content);
    yield event(contentAnswer(content, { parts: [{ text: '' }], finishReason, usage }));
    record.isComplete = true;
  } finally {
    record.isAborted = exchange.signal.aborted && !record.isComplete;
  }
}

function lateError(): Buffer {
  return event({ error: { code: 500, message: 'An internal error.', status: 'INTERNAL' } });
}

function event(answer: object): Buffer {
  return Buffer.from(`data: ${JSON.stringify(answer)}\r\n\r\n`);
}
