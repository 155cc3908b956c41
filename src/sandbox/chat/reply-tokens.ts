import { setImmediate } from 'node:timers/promises';
import type { SandboxExchange } from '../http/sandbox-exchange.js';
import { type ChatReply, tokensOf } from './chat-reply.js';
import type { AskedChat } from './asked-chat.js';

/** The most tokens that a magic input can ask for. */
export const MAX_REPLY_TOKENS = 100_000;
const MAX_PACE_MS = 60_000;
/** After this many tokens, other requests get their turn. */
const TOKENS_PER_TURN = 20;
const FILLER = ' and so on';

/** The tokens of a reply, and why they end. */
export interface ReplyTokens {
  readonly tokens: readonly string[];
  /** Whether the cap ended it. */
  readonly isCut: boolean;
  /** The stop sequence that ended it. */
  readonly stop: string | undefined;
}

/** The tokens that a reply sends within its cap: up to its first stop sequence, or as many as `tokens=N` says. */
export function replyTokens(
  { magic }: SandboxExchange,
  reply: ChatReply,
  { maxTokens, stops }: Pick<AskedChat, 'maxTokens' | 'stops'>,
): ReplyTokens {
  const wanted = magic.number('tokens', MAX_REPLY_TOKENS);
  const { text, stop } = untilStop(reply, stops);
  const all = wanted === undefined ? tokensOf(text) : fillerTokens(wanted);
  const tokens = all.slice(0, maxTokens);
  const isCut = tokens.length < all.length;
  return { tokens, isCut, stop: wanted === undefined && !isCut ? stop : undefined };
}

function untilStop(reply: ChatReply, stops: readonly string[]) {
  if (reply.kind === 'call') return { text: reply.arguments, stop: undefined };
  const { text } = reply;
  const found = stops
    .map((stop) => ({ stop, at: text.indexOf(stop) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)[0];
  return { text: text.slice(0, found?.at), stop: found?.stop };
}

/** So many tokens of no meaning. */
export function fillerTokens(count: number): string[] {
  const phrase = tokensOf(FILLER);
  return Array.from({ length: count }, (_, index) => phrase[index % phrase.length] ?? ' and');
}

/** Waits as long as the pace requires for a whole reply of so many tokens. */
export async function paceWhole(exchange: SandboxExchange, tokens: number): Promise<void> {
  const paceMs = exchange.magic.number('pace', MAX_PACE_MS) ?? 0;
  if (paceMs > 0) await exchange.pause(paceMs * tokens);
}

/** Waits before the token of a stream: as the pace requires, or until others had their turn. */
export async function paceToken(exchange: SandboxExchange, index: number): Promise<void> {
  const paceMs = exchange.magic.number('pace', MAX_PACE_MS);
  if (paceMs !== undefined) await exchange.pause(paceMs);
  else if (index % TOKENS_PER_TURN === 0) await setImmediate();
}

/**
 * Waits as the pace of the stream requires, and applies the magic input for this token. Returns true when that ended
 * the stream; with `error-after` the caller then sends its error event.
 */
export async function isCutAt(exchange: SandboxExchange, index: number): Promise<boolean> {
  const { magic } = exchange;
  await paceToken(exchange, index);
  if (magic.number('break-after', MAX_REPLY_TOKENS) === index) {
    await exchange.cut();
    return true;
  }
  if (magic.number('hang-after', MAX_REPLY_TOKENS) === index) await exchange.hang();
  return exchange.signal.aborted || magic.number('error-after', MAX_REPLY_TOKENS) === index;
}

/** Passes events on until `break-event=N` of them were sent; then cuts the connection. */
export async function* untilBreakEvent(
  exchange: SandboxExchange,
  events: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const most = exchange.magic.number('break-event', MAX_REPLY_TOKENS) ?? Infinity;
  let sent = 0;
  for await (const event of events) {
    if (sent === most) {
      await exchange.cut();
      return;
    }
    yield event;
    sent += 1;
  }
}
