import type { ChatPart } from '../providers/ports/chat-parts.js';

type CallPart = Extract<ChatPart, { type: 'tool-call' | 'tool-arguments' | 'tool-end' }>;

/**
 * Puts the parts of a streamed answer into an order in which one call of a tool is open at a time: pieces of a later call
 * wait until the earlier one has ended. An answer that ends ends its calls before.
 */
export class OrderedCalls {
  private open: number | undefined;
  /** The pieces of calls that have begun after the open one, in the order in which they began. */
  private readonly waiting = new Map<number, CallPart[]>();

  /** The parts that may be told now. */
  take(parts: readonly ChatPart[]): ChatPart[] {
    const told: ChatPart[] = [];
    for (const part of parts) {
      if (isOfCall(part)) this.takeOfCall(part, told);
      else {
        if (part.type === 'finish') this.endAll(told);
        told.push(part);
      }
    }
    return told;
  }

  private takeOfCall(part: CallPart, told: ChatPart[]): void {
    const { index, type } = part;
    if (type === 'tool-call' && this.open === undefined) this.open = index;
    if (index !== this.open) {
      const pieces = this.waiting.get(index);
      if (pieces) pieces.push(part);
      else if (type === 'tool-call') this.waiting.set(index, [part]);
      return;
    }
    told.push(part);
    if (type === 'tool-end') this.openNext(told);
  }

  /** Opens the call that has waited longest, and further ones as long as each has ended already. */
  private openNext(told: ChatPart[]): void {
    this.open = undefined;
    for (const [index, pieces] of this.waiting) {
      this.waiting.delete(index);
      told.push(...pieces);
      if (pieces.at(-1)?.type === 'tool-end') continue;
      this.open = index;
      return;
    }
  }

  private endAll(told: ChatPart[]): void {
    while (this.open !== undefined) this.takeOfCall({ type: 'tool-end', index: this.open }, told);
  }
}

function isOfCall(part: ChatPart): part is CallPart {
  return part.type === 'tool-call' || part.type === 'tool-arguments' || part.type === 'tool-end';
}
