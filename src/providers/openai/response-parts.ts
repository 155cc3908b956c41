import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { listAt, textAt } from '../http/json-fields.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { MAX_TOOL_CALLS } from '../ports/chat.port.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import { sealedValueOf, textsIn } from '../text/encrypted-items.js';

/** Maximum items of one answer. An answer with more is a failure of the provider. */
const MAX_ITEMS = 4_096;
/** What stands between two parts of a summary. */
const PARAGRAPH = '\n\n';
/** The field in which each kind of call has its text. */
const CALLS: ReadonlyMap<
  unknown,
  { readonly kind: 'function' | 'custom'; readonly field: string }
> = new Map([
  ['function_call', { kind: 'function', field: 'arguments' } as const],
  ['custom_tool_call', { kind: 'custom', field: 'input' } as const],
]);

/** An item that has begun. */
interface BegunItem {
  readonly type: unknown;
  /** Of calls: its number among them. */
  readonly call: number;
  /** Whether any of its text was told. */
  hasText: boolean;
  hasEnded: boolean;
}

/**
 * Turns the items of a response into parts, whole or piece by piece. Every method throws {@link UnusableAnswer} for what the
 * protocol does not allow. Unknown kinds of items give no parts.
 */
export class ResponseParts {
  private readonly items = new Map<unknown, BegunItem>();
  private calls = 0;

  /** Whether any tool was called. */
  get hasCalls(): boolean {
    return this.calls > 0;
  }

  /** The item at this index begins. */
  begin(index: unknown, item: JsonObject): ChatPart[] {
    if (this.items.has(index) || this.items.size >= MAX_ITEMS) throw badEvent();
    const called = CALLS.get(item.type);
    this.items.set(index, { type: item.type, call: this.calls, hasText: false, hasEnded: false });
    if (called === undefined) return [];
    const id = [textAt(item, 'call_id'), textAt(item, 'id')].find(Boolean);
    const name = textAt(item, 'name');
    if (!id || !name) throw badEvent();
    if (this.calls >= MAX_TOOL_CALLS) throw new UnusableAnswer('too_many_tool_calls');
    this.calls += 1;
    return [{ type: 'tool-call', index: this.calls - 1, id, kind: called.kind, name }];
  }

  /** A piece of text, or of a thought. */
  say(index: unknown, type: 'text' | 'reasoning' | 'refusal', text: unknown): ChatPart[] {
    if (typeof text !== 'string') throw badEvent();
    const item = this.openAt(index);
    if (text === '') return [];
    item.hasText = true;
    return [{ type, text }];
  }

  /** The next part of a summary begins: what was told of it before has come to its end. */
  nextThought(index: unknown): ChatPart[] {
    return this.openAt(index).hasText ? [{ type: 'reasoning', text: PARAGRAPH }] : [];
  }

  /** A piece of the arguments or the input of a call. */
  addToCall(index: unknown, delta: unknown): ChatPart[] {
    if (typeof delta !== 'string') throw badEvent();
    const item = this.openAt(index);
    if (!CALLS.has(item.type)) throw badEvent();
    if (delta === '') return [];
    item.hasText = true;
    return [{ type: 'tool-arguments', index: item.call, delta }];
  }

  /** The item at this index is whole: what of it was not told yet, and its end. */
  end(index: unknown, item: JsonObject): ChatPart[] {
    const begun = this.items.has(index) ? [] : this.begin(index, item);
    const known = this.openAt(index);
    known.hasEnded = true;
    return [...begun, ...restOf(item, known)];
  }

  /** The items of the whole response that were not told yet, and the ends of those that are open. */
  rest(output: readonly JsonObject[]): ChatPart[] {
    const told = output.flatMap((item, index) =>
      this.items.get(index)?.hasEnded === true ? [] : this.end(index, item),
    );
    const open = [...this.items].filter(([, { hasEnded }]) => !hasEnded);
    return [...told, ...open.flatMap(([, item]) => endOfCall(item))];
  }

  private openAt(index: unknown): BegunItem {
    const item = this.items.get(index);
    if (item === undefined || item.hasEnded) throw badEvent();
    return item;
  }
}

function badEvent(): UnusableAnswer {
  return new UnusableAnswer('bad_chunk');
}

function restOf(item: JsonObject, { type, call, hasText }: BegunItem): ChatPart[] {
  const field = CALLS.get(type)?.field;
  if (field !== undefined) {
    const text = hasText ? '' : (textAt(item, field) ?? '');
    const told: ChatPart[] =
      text === '' ? [] : [{ type: 'tool-arguments', index: call, delta: text }];
    return [...told, { type: 'tool-end', index: call }];
  }
  if (type === 'reasoning') return [...(hasText ? [] : thoughtsOf(item)), ...sealOf(item)];
  return type === 'message' && !hasText ? saidIn(item) : [];
}

function endOfCall({ type, call }: BegunItem): ChatPart[] {
  return CALLS.has(type) ? [{ type: 'tool-end', index: call }] : [];
}

function saidIn(item: JsonObject): ChatPart[] {
  return (listAt(item, 'content') ?? []).flatMap((part): ChatPart[] => {
    if (part.type === 'refusal') return textPart('refusal', part.refusal);
    if (part.type !== 'output_text' || typeof part.text !== 'string' || part.text === '') return [];
    const logprobs = listAt(part, 'logprobs') ?? [];
    return [{ type: 'text', text: part.text, ...(logprobs.length > 0 && { logprobs }) }];
  });
}

function thoughtsOf(item: JsonObject): ChatPart[] {
  const [shown = []] = ['content', 'summary'].map((name) => textsIn(item, name)).filter(isFilled);
  return textPart('reasoning', shown.join(PARAGRAPH));
}

const isFilled = (texts: readonly string[]): boolean => texts.length > 0;

function sealOf(item: JsonObject): ChatPart[] {
  const value = sealedValueOf(item);
  return value ? [{ type: 'reasoning-sealed', family: 'responses', value }] : [];
}

function textPart(type: 'reasoning' | 'refusal', text: unknown): ChatPart[] {
  return typeof text === 'string' && text !== '' ? [{ type, text }] : [];
}

/** The items of a response; null where it has none. */
export function outputOf({ output }: JsonObject): JsonObject[] | null {
  if (!Array.isArray(output) || output.length > MAX_ITEMS) return null;
  return (output as unknown[]).every(isJsonObject) ? (output as JsonObject[]) : null;
}
