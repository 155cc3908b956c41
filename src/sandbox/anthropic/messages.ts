import { SystemClock } from '../../common/time/clock.js';
import type { ChatLog } from '../chat/chat-log.js';
import { isCutAt, paceToken, paceWhole, untilBreakEvent } from '../chat/reply-tokens.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import {
  blockView,
  type MadeBlock,
  type MadeMessage,
  makeMessage,
  usageView,
} from './made-message.js';
import { readMessagesRequest } from './messages-request.js';
import { PromptCache } from '../chat/prompt-cache.js';
import { thoughtSignatureOf } from './messages-turns.js';

const clock = new SystemClock();

/** `POST /v1/messages`: a message as one JSON object, or as named server-sent events with one token each. */
export class Messages {
  private readonly cache = new PromptCache();

  constructor(private readonly chats: ChatLog) {}

  async answer(exchange: SandboxExchange): Promise<void> {
    const request = readMessagesRequest(exchange.body);
    const lines = this.cache.take(request.model, request.prompt, clock.nowMs());
    const message = makeMessage(exchange, request, { chats: this.chats, lines });
    const headers = {
      'request-id': `req_${exchange.requestId}`,
      'anthropic-organization-id': 'sandbox-organization',
    };
    if (request.isStream) {
      const type = { 'content-type': 'text/event-stream; charset=utf-8' };
      const events = untilBreakEvent(exchange, eventsOf(exchange, message));
      await exchange.send(200, { ...type, ...headers }, events);
      return;
    }
    const { record, blocks } = message;
    const sent = blocks.reduce((sum, { tokens }) => sum + tokens.length, 0);
    await paceWhole(exchange, sent);
    record.isAborted = exchange.signal.aborted;
    record.completionTokens = saidTokens(message);
    record.isComplete = !record.isAborted;
    await exchange.json(200, wholeMessage(exchange, message), headers);
  }
}

function saidTokens({ blocks }: MadeMessage): number {
  return blocks.reduce(
    (sum, { kind, tokens }) => sum + (kind === 'thinking' ? 0 : tokens.length),
    0,
  );
}

function wholeMessage(exchange: SandboxExchange, message: MadeMessage): object {
  const usage = usageView(exchange, message);
  return {
    ...head(message),
    content: message.blocks.map((block) => blockView(message, block, true)),
    ...ending(message),
    ...(usage && { usage }),
  };
}

function head({ id, request }: MadeMessage) {
  return { id, type: 'message', role: 'assistant', model: request.model };
}

function ending({ stopReason, stopSequence }: MadeMessage) {
  return { stop_reason: stopReason, stop_sequence: stopSequence };
}

async function* eventsOf(
  exchange: SandboxExchange,
  message: MadeMessage,
): AsyncGenerator<Uint8Array> {
  const { record } = message;
  try {
    yield event('message_start', { message: begun(exchange, message) });
    yield event('ping', {});
    for (const [index, block] of message.blocks.entries()) {
      yield event('content_block_start', {
        index,
        content_block: blockView(message, block, false),
      });
      const isWhole = yield* deltasOf(exchange, message, { index, block });
      if (!isWhole) return;
      yield event('content_block_stop', { index });
    }
    const usage = usageView(exchange, message);
    yield event('message_delta', { delta: ending(message), ...(usage && { usage }) });
    yield event('message_stop', {});
    record.isComplete = true;
  } finally {
    record.isAborted = exchange.signal.aborted && !record.isComplete;
  }
}

/** The message of the first event: its input is counted, its output has just begun. */
function begun(exchange: SandboxExchange, message: MadeMessage): object {
  const usage = usageView(exchange, message);
  return {
    ...head(message),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(usage && { usage: { ...usage, output_tokens: 1, output_tokens_details: null } }),
  };
}

/** The tokens of a block. Returns false where a magic input ended the stream. */
async function* deltasOf(
  exchange: SandboxExchange,
  { record }: MadeMessage,
  { index, block }: { readonly index: number; readonly block: MadeBlock },
): AsyncGenerator<Uint8Array, boolean> {
  const delta = (fields: object): Buffer => event('content_block_delta', { index, delta: fields });
  for (const [at, token] of block.tokens.entries()) {
    if (block.kind === 'thinking') {
      await paceToken(exchange, at);
      yield delta({ type: 'thinking_delta', thinking: token });
      continue;
    }
    if (await isCutAt(exchange, at)) {
      if (exchange.magic.has('error-after')) yield lateError();
      return false;
    }
    yield delta(
      block.kind === 'text'
        ? { type: 'text_delta', text: token }
        : { type: 'input_json_delta', partial_json: token },
    );
    record.completionTokens++;
  }
  if (block.kind === 'thinking') {
    yield delta({ type: 'signature_delta', signature: thoughtSignatureOf(block.tokens.join('')) });
  }
  return true;
}

function lateError(): Buffer {
  return event('error', { error: { type: 'api_error', message: 'Internal server error' } });
}

function event(type: string, fields: object): Buffer {
  return Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
}
