import type { ChatLog, ChatRecord } from '../chat/chat-log.js';
import { type ChatReply, replyTo, tokensOf } from '../chat/chat-reply.js';
import { fillerTokens, MAX_REPLY_TOKENS, replyTokens } from '../chat/reply-tokens.js';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { parseJson } from '../http/json.js';
import type { MessagesRequest } from './messages-request.js';
import type { PromptLines } from '../chat/prompt-cache.js';
import { thoughtSignatureOf } from './messages-turns.js';

/** A block of an answer, in the tokens in which it is sent. */
export interface MadeBlock {
  readonly kind: 'thinking' | 'text' | 'call';
  readonly tokens: readonly string[];
}

/** An answer of the sandbox before it is written as JSON or as events. */
export interface MadeMessage {
  readonly id: string;
  readonly request: MessagesRequest;
  readonly record: ChatRecord;
  readonly lines: PromptLines;
  readonly reply: ChatReply;
  readonly blocks: readonly MadeBlock[];
  /** Tokens of thinking, shown or not. */
  readonly thinkingTokens: number;
  readonly stopReason: 'end_turn' | 'max_tokens' | 'stop_sequence' | 'tool_use' | 'refusal';
  readonly stopSequence: string | null;
}

/** What the sandbox answers: thoughts where it is to think, then a text or the call of a tool, within the cap. */
export function makeMessage(
  exchange: SandboxExchange,
  request: MessagesRequest,
  { chats, lines }: { readonly chats: ChatLog; readonly lines: PromptLines },
): MadeMessage {
  const reply = replyTo(request);
  const refuses = exchange.magic.has('refuse');
  const thoughts = refuses ? [] : thoughtsOf(exchange, request);
  const maxTokens = request.maxTokens - thoughts.length;
  const said = replyTokens(exchange, reply, { ...request, maxTokens });
  const id = `msg_${exchange.requestId}`;
  return {
    id,
    request,
    reply,
    lines,
    thinkingTokens: thoughts.length,
    blocks: refuses ? [] : blocksOf(request, reply, { thoughts, tokens: said.tokens }),
    stopSequence: refuses ? null : (said.stop ?? null),
    stopReason: refuses ? 'refusal' : stopReasonOf(reply, said),
    record: chats.open({
      id,
      prompt: request.lastUserText,
      isStream: request.isStream,
      promptTokens: lines.plain + lines.read + lines.writtenFor5m + lines.writtenFor1h,
      reasoningTokens: thoughts.length,
    }),
  };
}

/** Thoughts about the question, or as many tokens as `reasoning=N` says, also where none are shown. */
function thoughtsOf({ magic }: SandboxExchange, request: MessagesRequest): readonly string[] {
  const wanted = magic.number('reasoning', MAX_REPLY_TOKENS);
  if (wanted === undefined && request.thinking === undefined) return [];
  const text = 'The question is clear. I look for what is asked, and then I answer it.';
  const tokens = wanted === undefined ? tokensOf(text) : fillerTokens(wanted);
  return tokens.slice(0, request.maxTokens);
}

function blocksOf(
  { thinking }: MessagesRequest,
  reply: ChatReply,
  { thoughts, tokens }: { thoughts: readonly string[]; tokens: readonly string[] },
): MadeBlock[] {
  const kind = reply.kind === 'call' ? 'call' : 'text';
  return [
    ...(thinking && thoughts.length > 0
      ? [{ kind: 'thinking' as const, tokens: thinking === 'shown' ? thoughts : [] }]
      : []),
    ...(tokens.length > 0 ? [{ kind, tokens } as const] : []),
  ];
}

function stopReasonOf(
  reply: ChatReply,
  { isCut, stop }: { readonly isCut: boolean; readonly stop: string | undefined },
): MadeMessage['stopReason'] {
  if (isCut) return 'max_tokens';
  if (stop !== undefined) return 'stop_sequence';
  return reply.kind === 'call' ? 'tool_use' : 'end_turn';
}

/** The block as it begins in a stream, or whole. */
export function blockView(
  { reply, id }: MadeMessage,
  { kind, tokens }: MadeBlock,
  isWhole: boolean,
): object {
  const text = isWhole ? tokens.join('') : '';
  if (kind === 'thinking') {
    const signature = isWhole ? thoughtSignatureOf(text) : '';
    return { type: 'thinking', thinking: text, signature };
  }
  if (kind === 'text') return { type: 'text', text, citations: null };
  const name = reply.kind === 'call' ? reply.name : '';
  // A call that the cap has cut is no JSON.
  return { type: 'tool_use', id: `toolu_${id.slice(-24)}`, name, input: parseJson(text) ?? {} };
}

/** The usage; undefined with `no-usage`, all zero with `zero-usage`. */
export function usageView(
  { magic }: SandboxExchange,
  { lines, record, thinkingTokens }: MadeMessage,
): object | undefined {
  if (magic.has('no-usage')) return undefined;
  const of = (tokens: number): number => (magic.has('zero-usage') ? 0 : tokens);
  return {
    input_tokens: of(lines.plain),
    cache_creation_input_tokens: of(lines.writtenFor5m + lines.writtenFor1h),
    cache_read_input_tokens: of(lines.read),
    cache_creation: {
      ephemeral_5m_input_tokens: of(lines.writtenFor5m),
      ephemeral_1h_input_tokens: of(lines.writtenFor1h),
    },
    output_tokens: of(record.completionTokens + thinkingTokens),
    output_tokens_details: { thinking_tokens: of(thinkingTokens) },
    server_tool_use: null,
    service_tier: 'standard',
  };
}
