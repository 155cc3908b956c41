import { SystemClock } from '../../common/time/clock.js';
import type { ChatLog, ChatRecord } from '../chat/chat-log.js';
import { type ChatReply, replyTo, countPromptTokens } from '../chat/chat-reply.js';
import { isCutAt, MAX_REPLY_TOKENS, paceWhole, replyTokens } from '../chat/reply-tokens.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { type CompletionRequest, readChatRequest } from './chat-request.js';

/** Models whose name begins so reason unseen, whether or not they are asked to. */
const THINKER = 'think';
/** Reasoning tokens of such a model. */
const UNSEEN_TOKENS = 128;

const clock = new SystemClock();

/** A reply, cut into the pieces that are sent. */
interface Completion {
  readonly request: CompletionRequest;
  readonly record: ChatRecord;
  readonly created: number;
  readonly reply: ChatReply;
  readonly tokens: readonly string[];
  readonly finishReason: 'stop' | 'length' | 'tool_calls';
}

/** `POST /v1/chat/completions`: a reply as one JSON object, or as server-sent events with one token each. */
export async function chatCompletions(exchange: SandboxExchange, chats: ChatLog): Promise<void> {
  const request = readChatRequest(exchange.body);
  const completion = complete(exchange, request, chats);
  const headers = { 'x-request-id': exchange.requestId, 'openai-processing-ms': '12' };
  if (request.isStream) {
    const type = { 'content-type': 'text/event-stream; charset=utf-8' };
    await exchange.send(200, { ...type, ...headers }, stream(exchange, completion));
    return;
  }
  const { record, tokens } = completion;
  await paceWhole(exchange, tokens.length);
  record.isAborted = exchange.signal.aborted;
  record.completionTokens = tokens.length;
  record.isComplete = !record.isAborted;
  const usage = usageOf(exchange, record);
  await exchange.json(200, { ...wholeReply(completion), ...(usage && { usage }) }, headers);
}

function complete(
  exchange: SandboxExchange,
  request: CompletionRequest,
  chats: ChatLog,
): Completion {
  const reply = replyTo(request);
  const { tokens, isCut } = replyTokens(exchange, reply, request);
  return {
    request,
    reply,
    tokens,
    created: clock.nowSeconds(),
    finishReason: isCut ? 'length' : reply.kind === 'call' ? 'tool_calls' : 'stop',
    record: chats.open({
      id: `chatcmpl-${exchange.requestId}`,
      prompt: request.lastUserText,
      isStream: request.isStream,
      promptTokens: countPromptTokens(request.texts),
      reasoningTokens:
        exchange.magic.number('reasoning', MAX_REPLY_TOKENS) ??
        unseenTokens(request, tokens.length),
    }),
  };
}

/** What a model that reasons unseen adds to its tokens, within the cap. */
function unseenTokens({ model, maxTokens = Infinity }: CompletionRequest, sent: number): number {
  return model.startsWith(THINKER) ? Math.min(UNSEEN_TOKENS, maxTokens - sent) : 0;
}

/** The usage object; undefined with `no-usage`, all zero with `zero-usage`. */
function usageOf(exchange: SandboxExchange, record: ChatRecord) {
  if (exchange.magic.has('no-usage')) return undefined;
  const isZero = exchange.magic.has('zero-usage');
  const prompt = isZero ? 0 : record.promptTokens;
  const reasoning = isZero ? 0 : record.reasoningTokens;
  const completion = isZero ? 0 : record.completionTokens + reasoning;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning, audio_tokens: 0 },
  };
}

function wholeReply({ request, record, created, reply, tokens, finishReason }: Completion) {
  const content = tokens.join('');
  const call = (name: string) => ({
    id: `call_${record.id.slice(-12)}`,
    type: 'function',
    function: { name, arguments: content },
  });
  const message =
    reply.kind === 'call'
      ? { role: 'assistant', content: null, refusal: null, tool_calls: [call(reply.name)] }
      : { role: 'assistant', content, refusal: null };
  return {
    id: record.id,
    object: 'chat.completion',
    created,
    model: request.model,
    choices: [{ index: 0, message, finish_reason: finishReason, logprobs: null }],
  };
}

async function* stream(
  exchange: SandboxExchange,
  completion: Completion,
): AsyncGenerator<Uint8Array> {
  const { request, record, reply, tokens, finishReason } = completion;
  const usage = usageFields(request);
  const chunk = (delta: object, finish: string | null = null) =>
    event(completion, {
      choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
      ...usage,
    });
  try {
    yield chunk(firstDelta(reply, record));
    for (const [index, token] of tokens.entries()) {
      if (await isCutAt(exchange, index)) {
        if (exchange.magic.has('error-after')) yield lateError();
        return;
      }
      yield chunk(nextDelta(reply, token));
      record.completionTokens++;
    }
    yield chunk({}, finishReason);
    const total = usageOf(exchange, record);
    if (request.includesUsage && total) yield event(completion, { choices: [], usage: total });
    yield Buffer.from('data: [DONE]\n\n');
    record.isComplete = true;
  } finally {
    record.isAborted = exchange.signal.aborted && !record.isComplete;
  }
}

/** With `include_usage` every chunk except the last has `usage: null`. */
function usageFields(request: CompletionRequest) {
  return request.includesUsage ? { usage: null } : {};
}

function firstDelta(reply: ChatReply, record: ChatRecord): object {
  if (reply.kind === 'text') return { role: 'assistant', content: '', refusal: null };
  const call = { name: reply.name, arguments: '' };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [
      { index: 0, id: `call_${record.id.slice(-12)}`, type: 'function', function: call },
    ],
  };
}

function nextDelta(reply: ChatReply, token: string): object {
  if (reply.kind === 'text') return { content: token };
  return { tool_calls: [{ index: 0, function: { arguments: token } }] };
}

function event({ request, record, created }: Completion, fields: object): Buffer {
  const chunk = {
    id: record.id,
    object: 'chat.completion.chunk',
    created,
    model: request.model,
    ...fields,
  };
  return Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);
}

function lateError(): Buffer {
  const error = {
    message: 'The server had an error.',
    type: 'server_error',
    param: null,
    code: null,
  };
  return Buffer.from(`data: ${JSON.stringify({ error })}\n\n`);
}
