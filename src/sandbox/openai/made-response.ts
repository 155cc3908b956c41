import type { ChatLog, ChatRecord } from '../chat/chat-log.js';
import { type ChatReply, countPromptTokens, replyTo, tokensOf } from '../chat/chat-reply.js';
import type { PromptLines } from '../chat/prompt-cache.js';
import { fillerTokens, MAX_REPLY_TOKENS, replyTokens } from '../chat/reply-tokens.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { encryptedText, type ResponsesRequest } from './responses-request.js';

const THOUGHT = 'The question is clear. I look for what is asked, and then I answer it.';
const REFUSAL = 'I cannot help with that.';

/** An item of an answer, in the tokens in which it is sent. */
export interface MadeItem {
  readonly id: string;
  readonly kind: 'reasoning' | 'text' | 'refusal' | 'call';
  readonly tokens: readonly string[];
}

/** An answer of the sandbox before it is written as JSON or as events. */
export interface MadeResponse {
  readonly id: string;
  readonly createdAt: number;
  readonly request: ResponsesRequest;
  readonly record: ChatRecord;
  readonly lines: PromptLines;
  readonly reply: ChatReply;
  readonly items: readonly MadeItem[];
  readonly reasoningTokens: number;
  readonly isCut: boolean;
}

/** What the sandbox answers: a thought where it is to reason, then a text, a refusal or the call of a tool, within the cap. */
export function makeResponse(
  exchange: SandboxExchange,
  request: ResponsesRequest,
  given: { readonly chats: ChatLog; readonly lines: PromptLines; readonly createdAt: number },
): MadeResponse {
  const { requestId, magic } = exchange;
  const { lines, createdAt } = given;
  const refuses = magic.has('refuse');
  const thoughts = refuses ? [] : thoughtsOf(exchange, request);
  const reply = replyTo(request);
  const maxTokens = (request.maxTokens ?? Infinity) - thoughts.length;
  const said = replyTokens(exchange, reply, { maxTokens, stops: [] });
  const tokens = refuses ? tokensOf(REFUSAL) : said.tokens;
  const kind = refuses ? 'refusal' : reply.kind === 'call' ? 'call' : 'text';
  const items: MadeItem[] = [
    ...(thoughts.length > 0
      ? [{ id: `rs_${requestId}`, kind: 'reasoning' as const, tokens: thoughts }]
      : []),
    { id: `${kind === 'call' ? 'fc' : 'msg'}_${requestId}`, kind, tokens },
  ];
  const id = `resp_${requestId}`;
  return {
    ...{ id, createdAt, request, reply, lines, items },
    reasoningTokens: thoughts.length,
    isCut: !refuses && said.isCut,
    record: given.chats.open({
      id,
      prompt: request.lastUserText,
      isStream: request.isStream,
      promptTokens: countPromptTokens(request.texts),
      reasoningTokens: thoughts.length,
    }),
  };
}

/** Thoughts about the question, or as many tokens as `reasoning=N` says. */
function thoughtsOf({ magic }: SandboxExchange, request: ResponsesRequest): readonly string[] {
  const wanted = magic.number('reasoning', MAX_REPLY_TOKENS);
  if (wanted === undefined && !request.reasons) return [];
  const tokens = wanted === undefined ? tokensOf(THOUGHT) : fillerTokens(wanted);
  return tokens.slice(0, request.maxTokens);
}

/** The item as it begins in a stream, or whole. */
export function itemView(made: MadeResponse, item: MadeItem, isWhole: boolean): object {
  const { id, kind, tokens } = item;
  const text = isWhole ? tokens.join('') : '';
  const status = isWhole
    ? made.isCut && isLast(made, item)
      ? 'incomplete'
      : 'completed'
    : 'in_progress';
  if (kind === 'reasoning') {
    const encrypted = made.request.isEncrypted ? encryptedText(tokens.join('')) : null;
    const summary = isWhole ? [{ type: 'summary_text', text }] : [];
    return { id, type: 'reasoning', summary, encrypted_content: encrypted };
  }
  if (kind === 'call') {
    const name = made.reply.kind === 'call' ? made.reply.name : '';
    const call_id = `call_${id.slice(-12)}`;
    return { id, type: 'function_call', status, call_id, name, arguments: text };
  }
  const content = isWhole ? [partView(kind, text)] : [];
  return { id, type: 'message', status, role: 'assistant', content };
}

function isLast({ items }: MadeResponse, item: MadeItem): boolean {
  return items.at(-1) === item;
}

/** A part of a message. */
export function partView(kind: MadeItem['kind'], text: string): object {
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** The response at its start, or with the items that it has. */
export function responseView(
  made: MadeResponse,
  state: {
    readonly status: string;
    readonly usage?: object | undefined;
    readonly isEnded: boolean;
  },
): object {
  const { id, createdAt, request, items } = made;
  return {
    id,
    object: 'response',
    created_at: createdAt,
    status: state.status,
    error: null,
    incomplete_details: state.status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    model: request.model,
    output: state.isEnded ? items.map((item) => itemView(made, item, true)) : [],
    parallel_tool_calls: true,
    store: false,
    tool_choice: 'auto',
    tools: [],
    usage: state.usage ?? null,
  };
}
