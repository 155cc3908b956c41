import type { ChatEvent } from '../../providers/ports/chat.port.js';
import type { ItemTerms, MadeOutput } from '../output/item-draft.js';
import { NativeItems } from '../output/native-items.js';
import { OutputItems } from '../output/output-items.js';

/**
 * The output of a run. A vendor of this protocol gives its own items, whole with its last event; where it did not come so
 * far because the run was cancelled, they are what was made of its parts.
 */
export class RunOutput {
  private readonly fromParts: OutputItems;
  private readonly native: NativeItems;

  constructor(terms: ItemTerms, names: { readonly id: string; readonly model: string }) {
    this.fromParts = new OutputItems(terms);
    this.native = new NativeItems(terms, names);
  }

  /** Adds what the model says next. Throws `UnusableAnswer`. */
  take(event: ChatEvent): void {
    for (const part of event.parts) this.fromParts.add(part);
    if (event.native !== null) this.native.take(event);
  }

  /** The items at the end of the run; those that are not finished are incomplete. */
  end(isCut: boolean): MadeOutput {
    if (this.native.isWhole) return this.native;
    this.fromParts.end(isCut);
    return this.fromParts;
  }

  /** Why the answer ended; undefined where it was cut. */
  get finishReason(): MadeOutput['finishReason'] {
    return this.fromParts.finishReason;
  }
}
