import type { JsonObject } from '../../common/json-object.js';
import type { ChatPart } from '../../providers/ports/chat-parts.js';
import type { FinishReason } from '../../providers/ports/finish-reason.js';
import { UnusableAnswer } from '../../providers/ports/unusable-answer.js';
import { CallDraft } from './call-draft.js';
import type { Draft, Emit, ItemTerms, MadeOutput } from './item-draft.js';
import { MessageDraft } from './message-draft.js';
import { ReasoningDraft } from './reasoning-draft.js';

/** Most characters of the texts of one answer, which stay in memory until its end. */
const MAX_CHARS = 16 * 1024 * 1024;

const QUIET: Emit = () => undefined;

/**
 * Makes the output items of a response from the parts of an answer, and tells them as events, one item at a time (API:
 * Events of a response). Pieces of several calls that arrive by turns are told one call after the other.
 */
export class OutputItems implements MadeOutput {
  private readonly drafts: Draft[] = [];
  private openIndex = 0;
  private isOpen = false;
  private chars = 0;
  private reason: FinishReason | undefined;

  constructor(
    private readonly terms: ItemTerms,
    private readonly emit: Emit = QUIET,
  ) {}

  get finished(): JsonObject[] {
    return this.drafts.slice(0, this.openIndex).map(({ item }) => item);
  }

  get stored(): JsonObject[] {
    return this.drafts.slice(0, this.openIndex).map(({ stored }) => stored);
  }

  get finishReason(): FinishReason | undefined {
    return this.reason;
  }

  /** Adds what the model says next. Throws {@link UnusableAnswer} for an answer that is too long. */
  add(part: ChatPart): void {
    if (part.type === 'finish') {
      this.reason ??= part.reason;
      return;
    }
    if (part.type === 'tool-end') {
      for (const draft of this.drafts) if (draft.takes(part)) draft.isComplete = true;
      this.advance();
      return;
    }
    this.count(part);
    const draft = this.draftFor(part);
    if (!draft) return;
    draft.add(part, this.isOpen && this.drafts[this.openIndex] === draft ? this.emit : QUIET);
    this.advance();
  }

  /** Ends all items. The last one is incomplete if the answer was cut. */
  end(isCut: boolean): void {
    for (const draft of this.drafts) draft.isComplete = true;
    this.advance(isCut);
  }

  private count(part: ChatPart): void {
    if ('text' in part) this.chars += part.text.length;
    else if (part.type === 'tool-arguments') this.chars += part.delta.length;
    if (this.chars > MAX_CHARS) throw new UnusableAnswer('response_too_large');
  }

  /** The item to which a part belongs: one that is there, or a new one. */
  private draftFor(part: ChatPart): Draft | undefined {
    const known = this.drafts.findLast((draft) => !draft.isComplete && draft.takes(part));
    if (known || part.type === 'tool-arguments') return known;
    const last = this.drafts.at(-1);
    // A text or a thought ends where something else begins; a call ends where the vendor says so.
    if (last && !(last instanceof CallDraft)) last.isComplete = true;
    const draft = this.newDraft(part);
    this.drafts.push(draft);
    return draft;
  }

  private newDraft(part: ChatPart): Draft {
    const { terms } = this;
    if (part.type === 'tool-call') return new CallDraft(part, terms);
    return part.type === 'reasoning' || part.type === 'reasoning-sealed'
      ? new ReasoningDraft(terms)
      : new MessageDraft(terms);
  }

  /** Closes what is complete and opens what is next. */
  private advance(isCut = false): void {
    for (;;) {
      const draft = this.drafts[this.openIndex];
      if (!draft) return;
      if (!this.isOpen) draft.open(this.openIndex, this.emit);
      this.isOpen = true;
      if (!draft.isComplete) return;
      const isLast = this.openIndex === this.drafts.length - 1;
      draft.close(isCut && isLast ? 'incomplete' : 'completed', this.emit);
      this.openIndex += 1;
      this.isOpen = false;
    }
  }
}
