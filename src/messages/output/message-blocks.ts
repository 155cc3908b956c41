import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import type { FinishReason } from '../../providers/ports/finish-reason.js';
import { UnusableAnswer } from '../../providers/ports/unusable-answer.js';
import { OrderedCalls } from '../../text/ordered-calls.js';

/** Most characters of one answer, which stay in memory until its end. */
const MAX_CHARS = 16 * 1024 * 1024;

/** Why an answer ended, in the words of this protocol. */
const STOP_REASONS: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
};

/** Reasons that end an answer anywhere, also within the arguments of a call. */
const CUT: readonly (FinishReason | undefined)[] = ['length', 'content_filter'];

/** Tells an event of a stream: its type and its fields. */
export type TellEvent = (type: string, fields: JsonObject) => void;

/** How an answer ended. */
export interface Ending {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

/** A block that is being made. */
interface OpenBlock {
  readonly kind: 'text' | 'thinking' | 'tool_use';
  readonly head: JsonObject;
  readonly pieces: string[];
}

type ToldPart = Exclude<ChatPart, { type: 'finish' | 'reasoning-sealed' }>;

const QUIET: TellEvent = () => undefined;

/**
 * Makes the blocks of a message from the parts of an answer, and tells them as events, one block after the other (API:
 * Events of a message). Sealed parts of vendors of other protocols have no place here.
 */
export class MessageBlocks {
  /** The blocks that are finished, in their order. */
  readonly finished: JsonObject[] = [];
  private readonly calls = new OrderedCalls();
  private open: OpenBlock | undefined;
  /** What came while a call was open, which cannot be interrupted. */
  private waiting: ToldPart[] = [];
  private chars = 0;
  private hasRefusal = false;
  private hasBrokenCall = false;
  private finish: Extract<ChatPart, { type: 'finish' }> | undefined;

  constructor(private readonly emit: TellEvent = QUIET) {}

  /** How the answer ended. */
  get ending(): Ending {
    const { reason = 'stop', stopSequence } = this.finish ?? {};
    if (stopSequence !== undefined) {
      return { stop_reason: 'stop_sequence', stop_sequence: stopSequence };
    }
    const isRefusal = this.hasRefusal && reason === 'stop';
    return { stop_reason: isRefusal ? 'refusal' : STOP_REASONS[reason], stop_sequence: null };
  }

  /**
   * Whether the arguments of a call are no JSON object although the answer was not cut. Its input is then empty, as that of a
   * call that was cut is.
   */
  get isMalformed(): boolean {
    return this.hasBrokenCall && !CUT.includes(this.finish?.reason);
  }

  /** Adds what the model says next. Throws {@link UnusableAnswer} for an answer that is too long. */
  add(parts: readonly ChatPart[]): void {
    for (const part of this.calls.take(parts)) {
      if (part.type === 'finish') this.finish ??= part;
      else if (part.type !== 'reasoning-sealed') this.take(part);
    }
  }

  /** Ends the last block. */
  end(): void {
    if (this.open?.kind === 'tool_use') this.close();
    this.takeWaiting();
    this.close();
  }

  private take(part: ToldPart): void {
    if (part.type === 'tool-call') {
      this.begin('tool_use', { type: 'tool_use', id: part.id, name: part.name, input: {} });
    } else if (part.type === 'tool-arguments') this.addPiece('input_json', part.delta);
    else if (part.type === 'tool-end') {
      this.close();
      this.takeWaiting();
    } else this.takeText(part);
  }

  private takeText(part: Extract<ToldPart, { text: string }>): void {
    if (this.open?.kind === 'tool_use') {
      this.count(part.text);
      this.waiting.push(part);
      return;
    }
    if (part.text === '') return;
    if (part.type === 'refusal') this.hasRefusal = true;
    if (part.type === 'reasoning') {
      if (this.open?.kind !== 'thinking') {
        this.begin('thinking', { type: 'thinking', thinking: '', signature: '' });
      }
      this.addPiece('thinking', part.text);
    } else {
      if (this.open?.kind !== 'text')
        this.begin('text', { type: 'text', text: '', citations: null });
      this.addPiece('text', part.text);
    }
  }

  private takeWaiting(): void {
    const parts = this.waiting;
    this.waiting = [];
    for (const part of parts) this.take(part);
  }

  private begin(kind: OpenBlock['kind'], head: JsonObject): void {
    this.close();
    this.open = { kind, head, pieces: [] };
    this.emit('content_block_start', { index: this.finished.length, content_block: head });
  }

  private addPiece(kind: 'text' | 'thinking' | 'input_json', piece: string): void {
    if (!this.open || piece === '') return;
    this.count(piece);
    this.open.pieces.push(piece);
    const name = kind === 'input_json' ? 'partial_json' : kind;
    const delta = { type: `${kind}_delta`, [name]: piece };
    this.emit('content_block_delta', { index: this.finished.length, delta });
  }

  private close(): void {
    const { open } = this;
    if (!open) return;
    this.open = undefined;
    const text = open.pieces.join('');
    const index = this.finished.length;
    if (open.kind === 'tool_use') {
      const input = inputOf(text);
      this.hasBrokenCall ||= input === undefined;
      this.finished.push({ ...open.head, input: input ?? {} });
    } else this.finished.push({ ...open.head, [open.kind]: text });
    if (open.kind === 'thinking') {
      // Readers keep a thought only with a signature, even an empty one.
      const delta = { type: 'signature_delta', signature: '' };
      this.emit('content_block_delta', { index, delta });
    }
    this.emit('content_block_stop', { index });
  }

  private count({ length }: string): void {
    this.chars += length;
    if (this.chars > MAX_CHARS) throw new UnusableAnswer('answer_too_long');
  }
}

/** The arguments of a call as an object; undefined where they are none. No arguments are an empty one. */
function inputOf(text: string): JsonObject | undefined {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
