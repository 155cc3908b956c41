import type { Readable } from 'node:stream';

/** The body of an answer that may outlive its reader. */
export interface UnreadBody {
  /** Whether it is not read for now, although its reader has left. */
  readonly isHeld?: boolean;
  /** Nobody takes the bytes from now on. They are read all the same, in turns with other such answers. */
  readUnread(accountId: string): void;
}

/**
 * Tells the body of an answer that its reader has left, and that the answer is paid for to its end (decisions G-24, G-25).
 * A body that knows no turns is read as before. The account is the one that pays; accounts take turns.
 */
export function readUnread(body: Readable & Partial<UnreadBody>, accountId: string): void {
  body.readUnread?.(accountId);
}
