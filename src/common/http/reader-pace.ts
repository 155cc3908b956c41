import { once } from 'node:events';
import type { Response } from 'express';

/** A client that takes nothing for this long counts as gone. */
export const STALL_MS = 60_000;

/** Resolves when a full answer takes bytes again, or when its reader is gone; a reader that stalls is cut off. */
export async function writableAgain(response: Response, stallMs = STALL_MS): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const stall = setTimeout(() => response.destroy(), stallMs);
  const drained = once(response, 'drain', { signal });
  await Promise.race([drained, once(response, 'close', { signal })]).catch(() => undefined);
  clearTimeout(stall);
  over.abort();
}
