import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { textAt } from '../http/json-fields.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { MAX_TOOL_CALLS } from '../ports/chat.port.js';
import type { SealedPart } from '../ports/conversation.js';
import { type FinishReason, isReason, missingReason } from '../ports/finish-reason.js';
import { candidateParts } from './gemini-candidate.js';
import { isRefusal } from './gemini-errors.js';
import { customInputOf } from './gemini-tools.js';

/** Reads one answer, event by event. It counts its calls. */
export class GeminiAnswer {
  private calls = 0;

  /** @param customTools names of the tools that take a text instead of an object */
  constructor(private readonly customTools: ReadonlySet<string>) {}

  /** What a candidate says, without its end; undefined for a candidate that is none of the protocol. */
  partsIn(candidate: JsonObject): ChatPart[] | undefined {
    const parts: ChatPart[] = [];
    for (const part of candidateParts(candidate)) {
      const said = isJsonObject(part.functionCall)
        ? this.callParts(part.functionCall, sealedOf(part))
        : textParts(part);
      if (said === undefined) return undefined;
      parts.push(...said);
    }
    return parts;
  }

  /** Why the candidate ended; null while it goes on. */
  reasonOf({ finishReason }: JsonObject): FinishReason | null {
    if (!isReason(finishReason)) return null;
    if (isRefusal(finishReason)) return 'content_filter';
    return finishReason === 'MAX_TOKENS' ? 'length' : this.missingReason;
  }

  /** The reason of an answer that ended without one, or with a word that says no more. */
  get missingReason(): FinishReason {
    return missingReason(this.calls > 0);
  }

  private callParts(call: JsonObject, sealed: SealedPart | undefined): ChatPart[] | undefined {
    const name = textAt(call, 'name');
    const args = call.args ?? {};
    const index = this.calls;
    if (name === null || name === '' || !isJsonObject(args) || index >= MAX_TOOL_CALLS)
      return undefined;
    this.calls += 1;
    const isCustom = this.customTools.has(name);
    const id = idOf(call);
    return [
      { type: 'tool-call', index, id, kind: isCustom ? 'custom' : 'function', name, sealed },
      {
        type: 'tool-arguments',
        index,
        delta: isCustom ? customInputOf(args) : JSON.stringify(args),
      },
      { type: 'tool-end', index },
    ];
  }
}

/** Some models name no id, or an empty one. */
function idOf(call: JsonObject): string {
  const id = textAt(call, 'id') ?? '';
  return id === '' ? `call_${randomUUID().replaceAll('-', '')}` : id;
}

/** The vendor's signature comes before the text that it belongs to. */
function textParts(part: JsonObject): ChatPart[] {
  const sealed = sealedOf(part);
  const text = textAt(part, 'text') ?? '';
  const type = part.thought === true ? 'reasoning' : 'text';
  return [
    ...(sealed ? [{ type: 'reasoning-sealed' as const, ...sealed }] : []),
    ...(text === '' ? [] : [{ type, text } as const]),
  ];
}

function sealedOf({ thoughtSignature }: JsonObject): SealedPart | undefined {
  if (typeof thoughtSignature !== 'string' || thoughtSignature === '') return undefined;
  return { family: 'gemini', value: { thoughtSignature } };
}
