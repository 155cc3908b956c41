import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import { toItemId } from '../../stored-responses/response-ids.js';
import type { Draft, Emit, ItemTerms } from './item-draft.js';

/** What the model thought, as far as the vendor shows it, and the vendor's sealed part of it. */
export class ReasoningDraft implements Draft {
  isComplete = false;
  item: JsonObject;
  private readonly pieces: string[] = [];
  private sealed: string | null = null;
  private outputIndex = 0;

  constructor(private readonly terms: ItemTerms) {
    const id = toItemId('reasoning', terms.newId());
    const empty = { summary: [], content: [], encrypted_content: null };
    this.item = { id, type: 'reasoning', status: 'in_progress', ...empty };
  }

  get stored(): JsonObject {
    return { ...this.item, encrypted_content: this.sealed };
  }

  takes({ type }: ChatPart): boolean {
    return type === 'reasoning' || type === 'reasoning-sealed';
  }

  add(part: ChatPart, emit: Emit): void {
    if (part.type === 'reasoning-sealed') {
      this.sealed = this.terms.seal(part);
      // A vendor seals a thought at its end.
      this.isComplete = true;
    } else if (part.type === 'reasoning' && part.text !== '') {
      if (this.pieces.length === 0) this.tellPart(emit);
      this.pieces.push(part.text);
      emit('response.reasoning_text.delta', { ...this.at, delta: part.text });
    }
  }

  open(outputIndex: number, emit: Emit): void {
    this.outputIndex = outputIndex;
    emit('response.output_item.added', { output_index: outputIndex, item: this.item });
    if (this.pieces.length === 0) return;
    this.tellPart(emit);
    emit('response.reasoning_text.delta', { ...this.at, delta: this.pieces.join('') });
  }

  close(status: 'completed' | 'incomplete', emit: Emit): void {
    const text = this.pieces.join('');
    const part = { type: 'reasoning_text', text };
    if (text !== '') {
      emit('response.reasoning_text.done', { ...this.at, text });
      emit('response.content_part.done', { ...this.at, part });
    }
    this.item = {
      ...this.item,
      status,
      content: text === '' ? [] : [part],
      encrypted_content: this.terms.showsSealed ? this.sealed : null,
    };
    emit('response.output_item.done', { output_index: this.outputIndex, item: this.item });
  }

  private get at(): JsonObject {
    return { item_id: this.item.id, output_index: this.outputIndex, content_index: 0 };
  }

  private tellPart(emit: Emit): void {
    emit('response.content_part.added', { ...this.at, part: { type: 'reasoning_text', text: '' } });
  }
}
