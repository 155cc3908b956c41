import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { type ChatEvent, PartsEvent, type TokenUsage } from '../ports/chat.port.js';
import { finishReasonOf, missingReason } from '../ports/finish-reason.js';
import { CallDeltas, calledToolOf } from '../text/tool-calls.js';
import { saidPartsOf } from './completion-parts.js';

/**
 * Takes the chunks of a streamed completion to parts. It has one choice; others are left out. A call ends when the next one
 * begins and its arguments are whole, else with the answer: some vendors send the pieces of several calls by turns.
 */
export class ChunkParts {
  private readonly calls = new CallDeltas();
  /** The text of each open call, by its index. */
  private readonly open = new Map<number, string>();
  private hasBegun = false;
  private hasFinished = false;

  /** Null where the choices say nothing and there is no usage. */
  eventOf(choices: readonly JsonObject[], usage: TokenUsage | null): ChatEvent | null {
    const [choice] = choices;
    const parts = choice === undefined ? [] : this.partsOf(choice);
    return parts.length === 0 && usage === null ? null : new PartsEvent(parts, usage);
  }

  /** The end of a choice for which the provider sent no finish reason. */
  rest(): ChatEvent | null {
    if (!this.hasBegun || this.hasFinished) return null;
    this.hasFinished = true;
    const finish = { type: 'finish', reason: missingReason(this.calls.hasCalls) } as const;
    return new PartsEvent([...this.endsOfCalls(), finish], null);
  }

  private partsOf(choice: JsonObject): ChatPart[] {
    this.hasBegun = true;
    const delta = isJsonObject(choice.delta) ? choice.delta : {};
    const parts = saidPartsOf(delta, choice);
    for (const piece of this.calls.shown(delta.tool_calls)) parts.push(...this.callParts(piece));
    const reason = finishReasonOf(choice, this.calls.hasCalls);
    if (reason !== null && !this.hasFinished) {
      this.hasFinished = true;
      parts.push(...this.endsOfCalls(), { type: 'finish', reason });
    }
    return parts;
  }

  private callParts(piece: JsonObject): ChatPart[] {
    const index = piece.index as number;
    const { kind, name, text, sealed } = calledToolOf(piece);
    const parts: ChatPart[] = [];
    // Only the first piece of a call has its id.
    if (typeof piece.id === 'string') {
      parts.push(...this.endsOfCalls(isWhole));
      parts.push({ type: 'tool-call', index, id: piece.id, kind, name, ...(sealed && { sealed }) });
      this.open.set(index, '');
    }
    if (text === '') return parts;
    this.open.set(index, (this.open.get(index) ?? '') + text);
    return [...parts, { type: 'tool-arguments', index, delta: text }];
  }

  private endsOfCalls(isDue: (text: string) => boolean = () => true): ChatPart[] {
    const due = [...this.open].filter(([, text]) => isDue(text)).map(([index]) => index);
    for (const index of due) this.open.delete(index);
    return due.map((index) => ({ type: 'tool-end', index }));
  }
}

function isWhole(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
