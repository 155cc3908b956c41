import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import { VENDOR_PART } from '../input/item-conversation.js';
import { toItemId } from '../../stored-responses/response-ids.js';
import type { Draft, Emit, ItemTerms } from './item-draft.js';

type Call = Extract<ChatPart, { type: 'tool-call' }>;

/** The names of events and fields of a kind of call. */
const KINDS = {
  function: {
    type: 'function_call',
    field: 'arguments',
    event: 'response.function_call_arguments',
    empty: '{}',
  },
  custom: {
    type: 'custom_tool_call',
    field: 'input',
    event: 'response.custom_tool_call_input',
    empty: '',
  },
} as const;

/** A call of a function or of a custom tool. */
export class CallDraft implements Draft {
  isComplete = false;
  item: JsonObject;
  private readonly kind: (typeof KINDS)[keyof typeof KINDS];
  private readonly index: number;
  private readonly name: string;
  private readonly sealed: Call['sealed'];
  private readonly pieces: string[] = [];
  private outputIndex = 0;

  constructor({ id, index, kind, name, sealed }: Call, terms: ItemTerms) {
    this.kind = KINDS[kind];
    this.index = index;
    this.name = name;
    const { type, field } = this.kind;
    const itemId = toItemId(type, terms.newId());
    this.item = { id: itemId, type, status: 'in_progress', call_id: id, name, [field]: '' };
    this.sealed = sealed;
  }

  get stored(): JsonObject {
    return this.sealed ? { ...this.item, [VENDOR_PART]: this.sealed } : this.item;
  }

  takes(part: ChatPart): boolean {
    const isPiece = part.type === 'tool-arguments' || part.type === 'tool-end';
    return isPiece && part.index === this.index;
  }

  add(part: ChatPart, emit: Emit): void {
    if (part.type !== 'tool-arguments' || part.delta === '') return;
    this.pieces.push(part.delta);
    this.tell(part.delta, emit);
  }

  open(outputIndex: number, emit: Emit): void {
    this.outputIndex = outputIndex;
    emit('response.output_item.added', { output_index: outputIndex, item: this.item });
    if (this.pieces.length > 0) this.tell(this.pieces.join(''), emit);
  }

  close(status: 'completed' | 'incomplete', emit: Emit): void {
    const { field, event, empty } = this.kind;
    // A vendor sends nothing for a function without arguments, and clients parse them as JSON.
    if (this.pieces.length === 0 && empty !== '' && status === 'completed') {
      this.pieces.push(empty);
      this.tell(empty, emit);
    }
    const text = this.pieces.join('');
    const named = field === 'arguments' ? { name: this.name } : {};
    emit(`${event}.done`, { ...this.at, ...named, [field]: text });
    this.item = { ...this.item, status, [field]: text };
    emit('response.output_item.done', { output_index: this.outputIndex, item: this.item });
  }

  private get at(): JsonObject {
    return { item_id: this.item.id, output_index: this.outputIndex };
  }

  private tell(delta: string, emit: Emit): void {
    emit(`${this.kind.event}.delta`, { ...this.at, delta });
  }
}
