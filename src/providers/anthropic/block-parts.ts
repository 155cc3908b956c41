import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import { textAt } from '../http/json-fields.js';
import type { ChatPart } from '../ports/chat-parts.js';
import { MAX_COMPLETION_BYTES, MAX_TOOL_CALLS } from '../ports/chat.port.js';
import { UnusableAnswer } from '../ports/unusable-answer.js';

/** The vendor has one block open at a time. */
const MAX_OPEN_BLOCKS = 64;

/** An open block of an answer. */
interface OpenBlock {
  readonly type: 'text' | 'thinking' | 'call' | 'other';
  /** Of calls: its number among them, whether its input is one text, and the input with which it began. */
  readonly index: number;
  readonly isCustom: boolean;
  readonly input: JsonObject;
  /** Thoughts, or the input of a call so far. */
  text: string;
  signature: string;
}

/**
 * Turns the blocks of an answer into parts, whole or piece by piece. Every method throws {@link UnusableAnswer} for what the
 * protocol does not allow. Unknown kinds of blocks give no parts.
 */
export class BlockParts {
  private readonly open = new Map<unknown, OpenBlock>();
  private calls = 0;
  private keptChars = 0;

  /** @param customTools names of the tools whose input is a text, which the vendor sends as a field */
  constructor(private readonly customTools: ReadonlySet<string>) {}

  /** Whether any tool was called. */
  get hasCalls(): boolean {
    return this.calls > 0;
  }

  /** The parts of a whole block. */
  whole(block: JsonObject): ChatPart[] {
    const begun = this.begin('whole', block);
    return [...begun, ...this.end('whole')];
  }

  /** A block begins at this index; a whole text or thought may already be in it. */
  begin(index: unknown, block: JsonObject): ChatPart[] {
    if (this.open.has(index) || this.open.size >= MAX_OPEN_BLOCKS) throw badEvent();
    switch (block.type) {
      case 'text':
        this.openBlock(index, { type: 'text' });
        return textPart('text', textAt(block, 'text'));
      case 'thinking':
        return this.beginThinking(index, block);
      case 'redacted_thinking':
        this.openBlock(index, { type: 'other' });
        return [{ type: 'reasoning-sealed', family: 'messages', value: block }];
      case 'tool_use':
        return this.beginCall(index, block);
      default:
        this.openBlock(index, { type: 'other' });
        return [];
    }
  }

  /** A piece of the block at this index. */
  add(index: unknown, delta: JsonObject): ChatPart[] {
    const block = this.open.get(index);
    if (block === undefined) throw badEvent();
    switch (delta.type) {
      case 'text_delta':
        return textPart('text', textAt(delta, 'text'));
      case 'thinking_delta':
        this.keep(block, textAt(delta, 'thinking') ?? '');
        return textPart('reasoning', textAt(delta, 'thinking'));
      case 'signature_delta':
        this.keepSignature(block, textAt(delta, 'signature') ?? '');
        return [];
      case 'input_json_delta':
        return this.addInput(block, textAt(delta, 'partial_json') ?? '');
      default:
        return [];
    }
  }

  /** The block at this index is over. */
  end(index: unknown): ChatPart[] {
    const block = this.open.get(index);
    this.open.delete(index);
    if (block === undefined) return [];
    if (block.type === 'thinking' && block.signature !== '') {
      const value = { type: 'thinking', thinking: block.text, signature: block.signature };
      return [{ type: 'reasoning-sealed', family: 'messages', value }];
    }
    return block.type === 'call' ? endOfCall(block) : [];
  }

  /** The blocks that are still open are over. */
  endAll(): ChatPart[] {
    return [...this.open.keys()].flatMap((index) => this.end(index));
  }

  private beginThinking(index: unknown, block: JsonObject): ChatPart[] {
    const text = textAt(block, 'thinking') ?? '';
    const signature = textAt(block, 'signature') ?? '';
    this.openBlock(index, { type: 'thinking', text, signature });
    return textPart('reasoning', text);
  }

  private beginCall(index: unknown, block: JsonObject): ChatPart[] {
    const id = textAt(block, 'id');
    const name = textAt(block, 'name');
    if (!id || !name) throw badEvent();
    if (this.calls >= MAX_TOOL_CALLS) throw new UnusableAnswer('too_many_tool_calls');
    const isCustom = this.customTools.has(name);
    const call = this.calls;
    const input = isJsonObject(block.input) ? block.input : {};
    this.openBlock(index, { type: 'call', index: call, isCustom, input });
    this.calls += 1;
    const kind = isCustom ? 'custom' : 'function';
    return [{ type: 'tool-call', index: call, id, kind, name }];
  }

  private addInput(block: OpenBlock, delta: string): ChatPart[] {
    if (block.type !== 'call') return [];
    if (!block.isCustom) {
      block.text ||= delta;
      return delta === '' ? [] : [{ type: 'tool-arguments', index: block.index, delta }];
    }
    this.keep(block, delta);
    return [];
  }

  private openBlock(index: unknown, block: Partial<OpenBlock> & Pick<OpenBlock, 'type'>): void {
    const empty = { index: 0, isCustom: false, input: {}, text: '', signature: '' };
    this.open.set(index, { ...empty, ...block });
  }

  private keepSignature(block: OpenBlock, text: string): void {
    this.count(text);
    block.signature += text;
  }

  private keep(block: OpenBlock, text: string): void {
    this.count(text);
    block.text += text;
  }

  /** What is kept until the end of its block is limited as a whole answer is. */
  private count({ length }: string): void {
    this.keptChars += length;
    if (this.keptChars > MAX_COMPLETION_BYTES) throw new UnusableAnswer('answer_too_long');
  }
}

function badEvent(): UnusableAnswer {
  return new UnusableAnswer('bad_chunk');
}

function textPart(type: 'text' | 'reasoning', text: string | null): ChatPart[] {
  return text === null || text === '' ? [] : [{ type, text }];
}

/** What is still to be told of the input: all of it for a custom tool, and where it came whole. */
function endOfCall({ index, isCustom, input, text }: OpenBlock): ChatPart[] {
  const rest = isCustom ? customText(input, text) : text === '' ? JSON.stringify(input) : '';
  const told: ChatPart[] = rest === '' ? [] : [{ type: 'tool-arguments', index, delta: rest }];
  return [...told, { type: 'tool-end', index }];
}

/** The text of a custom tool, from the field that it was asked for in; else all that the model wrote. */
function customText(input: JsonObject, json: string): string {
  const value = json === '' ? input : parsed(json);
  const text = isJsonObject(value) ? value.input : undefined;
  return typeof text === 'string' ? text : json || JSON.stringify(input);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return undefined;
  }
}
