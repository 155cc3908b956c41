import { randomBytes } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../common/json-object.js';
import { functionOf } from './known-fields.js';

const ID_BYTES = 12;
/** More calls of one choice share the last index: nobody asks for as many. */
const MAX_CALLS = 1_024;
/** The arguments of a call that begins, and of a whole call that has none. */
const NOTHING_YET = { arguments: '' };
const NO_ARGUMENTS = { arguments: '{}' };

interface OpenCall {
  readonly index: number;
  readonly id: string;
  /** The index that the vendor sent; undefined where it sent none. */
  readonly sent: number | undefined;
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
 * The calls of tools in the deltas of one choice. Vendors leave out their index, or say 0 for all of them; an id then tells
 * the calls apart, or, where that is missing too, a new name.
 */
export class CallDeltas {
  private readonly calls: OpenCall[] = [];

  /** Whether any tool was called. */
  get hasCalls(): boolean {
    return this.calls.length > 0;
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
    const named = id === undefined ? undefined : this.calls.find((call) => call.id === id);
    if (named !== undefined) return named;
    if (this.calls.length >= MAX_CALLS) return this.calls.at(-1);
    // Some vendors make a new id for each piece of a call; its first has the name.
    if (id !== undefined && name !== undefined) return undefined;
    const sent = sentIndexOf(piece);
    const last =
      sent === undefined ? this.calls.at(-1) : this.calls.findLast((call) => call.sent === sent);
    if (last === undefined || name === undefined) return last;
    const isNext = sent === undefined || inDelta.has(last) || name !== last.name;
    return isNext ? undefined : last;
  }

  private begin(piece: JsonObject): OpenCall {
    const sent = sentIndexOf(piece);
    const taken = this.calls.map((call) => call.index);
    const isFree = sent !== undefined && sent < MAX_CALLS && !taken.includes(sent);
    const index = isFree ? sent : Math.max(-1, ...taken) + 1;
    const call = { index, id: idOf(piece) ?? freshId(), sent, name: nameOf(piece) };
    this.calls.push(call);
    return call;
  }
}

/** The fields of a call that are known, but for its id and its index. */
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
  const made = called ?? custom;
  return isJsonObject(made) && typeof made.name === 'string' && made.name !== ''
    ? made.name
    : undefined;
}

function sentIndexOf({ index }: JsonObject): number | undefined {
  return Number.isSafeInteger(index) && (index as number) >= 0 ? (index as number) : undefined;
}

function freshId(): string {
  return `call_${randomBytes(ID_BYTES).toString('hex')}`;
}
