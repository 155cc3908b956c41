import type { ServerResponse } from 'node:http';
import { setImmediate as yieldLoop } from 'node:timers/promises';
import { isFlushed, waitForDrain } from './backpressure.js';
import { countWaiting } from './response-memory-limit.js';

/** Characters of one write. */
const PIECE_CHARACTERS = 65_536;
/** After so much work, other requests have their turn. */
const TURN_MS = 5;

/**
 * Sends JSON whose parts are made one after the other, each once the client has read those before. A short one is sent as a
 * whole, with its length. A client that leaves or reads nothing ends it; then the rest is not made. `sourceBytes` are in
 * memory until the end.
 */
export async function sendJsonInPieces(
  response: ServerResponse,
  parts: Iterable<string>,
  sourceBytes: number,
): Promise<void> {
  response.setHeader('content-type', 'application/json; charset=utf-8');
  countWaiting(response, () => (response.writableEnded ? 0 : sourceBytes));
  let piece = '';
  let turnMs = performance.now();
  for (const part of parts) {
    piece += part;
    const isDue = performance.now() - turnMs >= TURN_MS;
    if (piece.length >= PIECE_CHARACTERS) {
      if (!response.write(piece) && !isFlushed(response)) await waitForDrain(response);
      piece = '';
    }
    if (response.destroyed) return;
    if (!isDue) continue;
    await yieldLoop();
    turnMs = performance.now();
  }
  response.end(piece);
}
