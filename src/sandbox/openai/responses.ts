import { SystemClock } from '../../common/time/clock.js';
import type { ChatLog } from '../chat/chat-log.js';
import { PromptCache } from '../chat/prompt-cache.js';
import { isCutAt, paceToken, paceWhole, untilBreakEvent } from '../chat/reply-tokens.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import {
  itemView,
  type MadeItem,
  type MadeResponse,
  makeResponse,
  partView,
  responseView,
} from './made-response.js';
import { readResponsesRequest, type ResponsesRequest } from './responses-request.js';

const clock = new SystemClock();

/** An event of a stream, without its number. */
interface MadeEvent {
  readonly type: string;
}

/** `POST /v1/responses`: a response as one JSON object, or as named server-sent events with one token each. */
export class Responses {
  private readonly cache = new PromptCache();

  constructor(private readonly chats: ChatLog) {}

  async answer(exchange: SandboxExchange): Promise<void> {
    const request = readResponsesRequest(exchange.body);
    const lines = this.cache.take(request.model, blocksOf(request), clock.nowMs());
    const createdAt = clock.nowSeconds();
    const made = makeResponse(exchange, request, { chats: this.chats, lines, createdAt });
    const headers = { 'x-request-id': exchange.requestId, 'openai-organization': 'sandbox' };
    if (request.isStream) {
      const type = { 'content-type': 'text/event-stream; charset=utf-8' };
      const events = untilBreakEvent(exchange, written(eventsOf(exchange, made)));
      await exchange.send(200, { ...type, ...headers }, events);
      return;
    }
    const { record, items } = made;
    await paceWhole(
      exchange,
      items.reduce((sum, { tokens }) => sum + tokens.length, 0),
    );
    record.isAborted = exchange.signal.aborted;
    record.completionTokens = items
      .filter(({ kind }) => kind !== 'reasoning')
      .reduce((sum, { tokens }) => sum + tokens.length, 0);
    record.isComplete = !record.isAborted;
    await exchange.json(200, endOf(exchange, made), headers);
  }
}

/** The vendor caches by itself: each text of the prompt may be read again within five minutes. */
function blocksOf({ texts }: ResponsesRequest) {
  return texts.map((text) => ({ text, cache: '5m' as const }));
}

function endOf(exchange: SandboxExchange, made: MadeResponse): object {
  const status = made.isCut ? 'incomplete' : 'completed';
  return responseView(made, { status, usage: usageOf(exchange, made), isEnded: true });
}

/** The usage; undefined with `no-usage`, all zero with `zero-usage`. */
function usageOf({ magic }: SandboxExchange, { record, lines, reasoningTokens }: MadeResponse) {
  if (magic.has('no-usage')) return undefined;
  const of = (tokens: number): number => (magic.has('zero-usage') ? 0 : tokens);
  const input = of(record.promptTokens);
  const output = of(record.completionTokens + reasoningTokens);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: Math.min(of(lines.read), input) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: of(reasoningTokens) },
    total_tokens: input + output,
  };
}

async function* written(events: AsyncIterable<MadeEvent>): AsyncGenerator<Uint8Array> {
  let sequence_number = 0;
  for await (const event of events) {
    const data = JSON.stringify({ ...event, sequence_number });
    sequence_number += 1;
    yield Buffer.from(`event: ${event.type}\ndata: ${data}\n\n`);
  }
}

async function* eventsOf(exchange: SandboxExchange, made: MadeResponse): AsyncGenerator<MadeEvent> {
  const { record } = made;
  const begun = responseView(made, { status: 'in_progress', isEnded: false });
  try {
    yield named('response.created', { response: begun });
    yield named('response.in_progress', { response: begun });
    for (const [output_index, item] of made.items.entries()) {
      const begins = itemView(made, item, false);
      yield named('response.output_item.added', { output_index, item: begins });
      const isWhole = yield* piecesOf(exchange, made, { output_index, item });
      if (!isWhole) return;
      const ends = itemView(made, item, true);
      yield named('response.output_item.done', { output_index, item: ends });
    }
    const end = endOf(exchange, made);
    yield named(made.isCut ? 'response.incomplete' : 'response.completed', { response: end });
    record.isComplete = true;
  } finally {
    record.isAborted = exchange.signal.aborted && !record.isComplete;
  }
}

/** The names of the events of a kind of item, and of the field that has its whole text. */
const EVENTS = {
  reasoning: { piece: 'response.reasoning_summary_text', field: 'text' },
  text: { piece: 'response.output_text', field: 'text' },
  refusal: { piece: 'response.refusal', field: 'refusal' },
  call: { piece: 'response.function_call_arguments', field: 'arguments' },
} as const;

/** The tokens of an item. Returns false where a magic input ended the stream. */
async function* piecesOf(
  exchange: SandboxExchange,
  { record }: MadeResponse,
  { output_index, item }: { readonly output_index: number; readonly item: MadeItem },
): AsyncGenerator<MadeEvent, boolean> {
  const { kind, tokens } = item;
  const { piece, field } = EVENTS[kind];
  const text = tokens.join('');
  const at = { item_id: item.id, output_index, ...placeOf(kind) };
  yield* partEvents(kind, 'added', at, '');
  for (const [index, delta] of tokens.entries()) {
    if (kind === 'reasoning') await paceToken(exchange, index);
    else if (await isCutAt(exchange, index)) {
      if (exchange.magic.has('error-after')) yield lateError();
      return false;
    } else record.completionTokens++;
    yield named(`${piece}.delta`, { ...at, delta });
  }
  yield named(`${piece}.done`, { ...at, [field]: text });
  yield* partEvents(kind, 'done', at, text);
  return true;
}

function placeOf(kind: MadeItem['kind']): object {
  if (kind === 'call') return {};
  return kind === 'reasoning' ? { summary_index: 0 } : { content_index: 0 };
}

function* partEvents(
  kind: MadeItem['kind'],
  state: 'added' | 'done',
  at: object,
  text: string,
): Generator<MadeEvent> {
  if (kind === 'reasoning') {
    const part = { type: 'summary_text', text };
    yield named(`response.reasoning_summary_part.${state}`, { ...at, part });
  } else if (kind !== 'call') {
    yield named(`response.content_part.${state}`, { ...at, part: partView(kind, text) });
  }
}

function lateError(): MadeEvent {
  const message = 'The server had an error.';
  return named('error', { code: 'server_error', message, param: null });
}

function named(type: string, fields: object): MadeEvent {
  return { type, ...fields };
}
