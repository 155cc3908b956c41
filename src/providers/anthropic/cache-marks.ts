import type { CacheTime } from '../ports/conversation.js';

/** The vendor refuses a request with more. */
const MAX_MARKS = 4;

/** A block or a tool while its request is made. */
export type WireBlock = Record<string, unknown>;

/** The blocks up to which the vendor is to keep the prompt, in the order of the prompt. */
export class CacheMarks {
  private readonly marked: WireBlock[] = [];

  /** Marks a block where its part says so. Returns the block. */
  mark(block: WireBlock, cache: CacheTime | undefined): WireBlock {
    if (cache === undefined) return block;
    block.cache_control = { type: 'ephemeral', ...(cache === '1h' && { ttl: cache }) };
    this.marked.push(block);
    return block;
  }

  /** Takes away the first marks beyond those that the vendor allows: the later ones keep more of the prompt. */
  limit(): void {
    for (const block of this.marked.slice(0, -MAX_MARKS)) delete block.cache_control;
  }
}
