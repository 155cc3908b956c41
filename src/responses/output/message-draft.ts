import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import { toItemId } from '../../stored-responses/response-ids.js';
import type { Draft, Emit, ItemTerms } from './item-draft.js';

/** A part of a message while it grows. */
interface OpenPart {
  readonly type: 'output_text' | 'refusal';
  readonly pieces: string[];
  readonly logprobs: JsonObject[];
}

/** A message of the model: texts and refusals. */
export class MessageDraft implements Draft {
  isComplete = false;
  item: JsonObject;
  private readonly parts: OpenPart[] = [];
  private outputIndex = 0;

  constructor(private readonly terms: ItemTerms) {
    const id = toItemId('message', terms.newId());
    this.item = { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
  }

  get stored(): JsonObject {
    return this.item;
  }

  takes({ type }: ChatPart): boolean {
    return type === 'text' || type === 'refusal';
  }

  add(part: ChatPart, emit: Emit): void {
    if (part.type !== 'text' && part.type !== 'refusal') return;
    const type = part.type === 'text' ? 'output_text' : 'refusal';
    const logprobs = part.type === 'text' && this.terms.showsLogprobs ? (part.logprobs ?? []) : [];
    let open = this.parts.at(-1);
    if (open?.type !== type) {
      if (open) this.closePart(open, emit);
      open = { type, pieces: [], logprobs: [] };
      this.parts.push(open);
      this.tellPart(open, emit);
    }
    open.pieces.push(part.text);
    open.logprobs.push(...logprobs);
    this.tellPiece(open, part.text, logprobs, emit);
  }

  open(outputIndex: number, emit: Emit): void {
    this.outputIndex = outputIndex;
    emit('response.output_item.added', { output_index: outputIndex, item: this.item });
    for (const [index, part] of this.parts.entries()) {
      const former = this.parts[index - 1];
      if (former) this.closePart(former, emit);
      this.tellPart(part, emit, index);
      this.tellPiece(part, part.pieces.join(''), part.logprobs, emit, index);
    }
  }

  close(status: 'completed' | 'incomplete', emit: Emit): void {
    const last = this.parts.at(-1);
    if (last) this.closePart(last, emit);
    this.item = { ...this.item, status, content: this.parts.map(wholePart) };
    emit('response.output_item.done', { output_index: this.outputIndex, item: this.item });
  }

  private at(index: number): JsonObject {
    const { id } = this.item;
    return { item_id: id, output_index: this.outputIndex, content_index: index };
  }

  private tellPart({ type }: OpenPart, emit: Emit, index = this.parts.length - 1): void {
    const part = wholePart({ type, pieces: [], logprobs: [] });
    emit('response.content_part.added', { ...this.at(index), part });
  }

  private tellPiece(
    { type }: OpenPart,
    delta: string,
    logprobs: readonly JsonObject[],
    emit: Emit,
    index = this.parts.length - 1,
  ): void {
    if (delta === '') return;
    const fields = { ...this.at(index), delta };
    if (type === 'refusal') emit('response.refusal.delta', fields);
    else emit('response.output_text.delta', { ...fields, logprobs });
  }

  private closePart(part: OpenPart, emit: Emit): void {
    const at = this.at(this.parts.indexOf(part));
    const text = part.pieces.join('');
    if (part.type === 'refusal') emit('response.refusal.done', { ...at, refusal: text });
    else emit('response.output_text.done', { ...at, text, logprobs: part.logprobs });
    emit('response.content_part.done', { ...at, part: wholePart(part) });
  }
}

function wholePart({ type, pieces, logprobs }: OpenPart): JsonObject {
  const text = pieces.join('');
  return type === 'refusal' ? { type, refusal: text } : { type, text, annotations: [], logprobs };
}
