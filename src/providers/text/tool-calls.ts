import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { MAX_TOOL_CALLS } from '../ports/chat.port.js';
import type { SealedPart } from '../ports/conversation.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';
import { functionOf } from './message-fields.js';

const ID_BYTES = 12;
/** The arguments of a call that begins, and of a whole call that has none. */
const NOTHING_YET = { arguments: '' };
const NO_ARGUMENTS = { arguments: '{}' };

interface OpenCall {
  readonly index: number;
  readonly id: string;
  readonly name: string | undefined;
}

/** The calls of tools in a whole message: each with an id, its type, and its arguments as JSON text. */
export function wholeCallsOf(calls: unknown): JsonObject[] {
  return objectsOf(calls).map((call) => ({
    id: idOf(call) ?? freshId(),
    ...calledOf(call, true, NO_ARGUMENTS),
  }));
}

/**
 * The tool calls in the deltas of one choice. Vendors leave out the index, or send 0 for all calls; then an id
 * distinguishes the calls, or, if that is missing too, a new name. Throws {@link UnusableAnswer}.
 */
export class CallDeltas {
  private readonly byId = new Map<string, OpenCall>();
  /** The last call under each index that the vendor sent. */
  private readonly bySent = new Map<number, OpenCall>();
  private readonly usedIndices = new Set<number>();
  private nextIndex = 0;
  private last: OpenCall | undefined;

  /** Whether any tool was called. */
  get hasCalls(): boolean {
    return this.last !== undefined;
  }

  /** The calls of one delta under their own indices. The first piece of each has its id and its type. */
  shown(calls: unknown): JsonObject[] {
    const inDelta = new Set<OpenCall>();
    return objectsOf(calls).map((piece) => {
      const known = this.find(piece, inDelta);
      const call = known ?? this.begin(piece);
      inDelta.add(call);
      const { index, id } = call;
      return known ? { index, ...calledOf(piece, false) } : { index, id, ...calledOf(piece, true) };
    });
  }

  private find(piece: JsonObject, inDelta: ReadonlySet<OpenCall>): OpenCall | undefined {
    const id = idOf(piece);
    const name = nameOf(piece);
    const named = id === undefined ? undefined : this.byId.get(id);
    if (named !== undefined) return named;
    // Some vendors make a new id for each piece of a call; its first has the name.
    if (id !== undefined && name !== undefined) return undefined;
    const sent = sentIndexOf(piece);
    const last = sent === undefined ? this.last : this.bySent.get(sent);
    if (last === undefined || name === undefined) return last;
    const isNext = sent === undefined || inDelta.has(last) || name !== last.name;
    return isNext ? undefined : last;
  }

  private begin(piece: JsonObject): OpenCall {
    if (this.usedIndices.size >= MAX_TOOL_CALLS) throw new UnusableAnswer('too_many_tool_calls');
    const sent = sentIndexOf(piece);
    const isFree = sent !== undefined && sent < MAX_TOOL_CALLS && !this.usedIndices.has(sent);
    const index = isFree ? sent : this.nextIndex;
    const call = { index, id: idOf(piece) ?? freshId(), name: nameOf(piece) };
    this.usedIndices.add(index);
    this.nextIndex = Math.max(this.nextIndex, index + 1);
    this.byId.set(call.id, call);
    if (sent !== undefined) this.bySent.set(sent, call);
    this.last = call;
    return call;
  }
}

/** The known fields of a call, except its id and its index. */
function calledOf(call: JsonObject, isFirst: boolean, empty = NOTHING_YET): JsonObject {
  const { type, function: called, custom, extra_content: extra } = call;
  const isCustom = isJsonObject(custom) && !isJsonObject(called);
  return {
    ...((isFirst || typeof type === 'string') && { type: isCustom ? 'custom' : 'function' }),
    ...(isJsonObject(called) && { function: { ...(isFirst && empty), ...functionOf(called) } }),
    ...(isCustom && { custom: customOf(custom) }),
    ...(isJsonObject(extra) && { extra_content: extra }),
  };
}

function customOf({ name, input }: JsonObject): JsonObject {
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof input === 'string' && { input }),
  };
}

function objectsOf(calls: unknown): readonly JsonObject[] {
  return Array.isArray(calls) ? calls.filter(isJsonObject) : [];
}

function idOf({ id }: JsonObject): string | undefined {
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function nameOf({ function: called, custom }: JsonObject): string | undefined {
  const calledTool = called ?? custom;
  return isJsonObject(calledTool) && typeof calledTool.name === 'string' && calledTool.name !== ''
    ? calledTool.name
    : undefined;
}

function sentIndexOf({ index }: JsonObject): number | undefined {
  return Number.isSafeInteger(index) && (index as number) >= 0 ? (index as number) : undefined;
}

function freshId(): string {
  return `call_${randomBytes(ID_BYTES).toString('hex')}`;
}

/** A call of a tool in OpenAI's format, or a piece of one, without its id and its index. */
export interface CalledTool {
  readonly kind: 'function' | 'custom';
  readonly name: string;
  /** Arguments of a function, as JSON text, or the input of a custom tool. */
  readonly text: string;
  /** What its vendor wants back with it. */
  readonly sealed: SealedPart | undefined;
}

/** Reads `function` or `custom`, and `extra_content`, of a call. */
export function calledToolOf({
  function: called,
  custom,
  extra_content: extra,
}: JsonObject): CalledTool {
  const isCustom = isJsonObject(custom) && !isJsonObject(called);
  const tool = isCustom ? custom : isJsonObject(called) ? called : {};
  const { name, arguments: args, input } = tool;
  const text = isCustom ? input : args;
  return {
    kind: isCustom ? 'custom' : 'function',
    name: typeof name === 'string' ? name : '',
    text: typeof text === 'string' ? text : '',
    sealed: isJsonObject(extra) ? { family: 'chat', value: extra } : undefined,
  };
}
