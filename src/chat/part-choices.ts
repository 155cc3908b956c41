import type { JsonObject } from '../common/json-object.js';
import type { ChatPart } from '../providers/ports/chat-parts.js';
import { extraContentOf, reasoningDetailOf } from './sealed-fields.js';

/** Writes the parts of a streamed answer as choices of chunks. */
export class PartChoices {
  private readonly kinds = new Map<number, 'function' | 'custom'>();

  /** The choice with what the parts add; none where they add nothing. */
  choicesOf(parts: readonly ChatPart[]): JsonObject[] {
    const delta: Record<string, unknown> = {};
    const logprobs: JsonObject[] = [];
    let reason: string | null = null;
    for (const part of parts) {
      if (part.type === 'finish') reason = part.reason;
      else this.add(delta, part);
      if (part.type === 'text' && part.logprobs) logprobs.push(...part.logprobs);
    }
    if (reason === null && Object.keys(delta).length === 0) return [];
    const choice = { index: 0, delta, finish_reason: reason };
    return [logprobs.length > 0 ? { ...choice, logprobs: { content: logprobs } } : choice];
  }

  private add(delta: Record<string, unknown>, part: ChatPart): void {
    const append = (name: string, text: string) => {
      delta[name] = ((delta[name] as string | undefined) ?? '') + text;
    };
    const push = (name: string, item: JsonObject) => {
      delta[name] = [...((delta[name] as JsonObject[] | undefined) ?? []), item];
    };
    if (part.type === 'text') append('content', part.text);
    else if (part.type === 'reasoning') append('reasoning_content', part.text);
    else if (part.type === 'refusal') append('refusal', part.text);
    else if (part.type === 'reasoning-sealed') push('reasoning_details', reasoningDetailOf(part));
    else if (part.type === 'tool-call' || part.type === 'tool-arguments') {
      push('tool_calls', this.pieceOf(part));
    }
  }

  private pieceOf(part: Extract<ChatPart, { type: 'tool-call' | 'tool-arguments' }>): JsonObject {
    const { index } = part;
    if (part.type === 'tool-call') {
      const { id, kind, name, sealed } = part;
      this.kinds.set(index, kind);
      const extra = sealed && { extra_content: extraContentOf(sealed) };
      return { index, id, type: kind, [kind]: { name }, ...extra };
    }
    return this.kinds.get(index) === 'custom'
      ? { index, custom: { input: part.delta } }
      : { index, function: { arguments: part.delta } };
  }
}

/** The choice of a whole answer. */
export function choiceOf(parts: readonly ChatPart[]): JsonObject {
  const [choice] = new PartChoices().choicesOf(parts);
  const { delta = {}, ...rest } = choice ?? {};
  const { tool_calls: pieces, ...message } = delta as JsonObject;
  const calls = Array.isArray(pieces) && { tool_calls: wholeCalls(pieces as JsonObject[]) };
  return { index: 0, ...rest, message: { ...message, ...calls } };
}

function wholeCalls(pieces: readonly JsonObject[]): JsonObject[] {
  const calls = new Map<unknown, Record<string, unknown>>();
  for (const { index, ...piece } of pieces) {
    const call = calls.get(index);
    if (call === undefined) calls.set(index, piece);
    else for (const kind of ['function', 'custom']) join(call, piece, kind);
  }
  return [...calls.values()];
}

function join(call: Record<string, unknown>, piece: JsonObject, kind: string): void {
  if (piece[kind] === undefined) return;
  const known = call[kind] as Record<string, string>;
  for (const [name, text] of Object.entries(piece[kind] as Record<string, string>)) {
    call[kind] = { ...known, [name]: (known[name] ?? '') + text };
  }
}
