import { setImmediate as yieldLoop } from 'node:timers/promises';
import type { Response } from 'express';
import { type AnswerCopy, copyOf } from './answer-copy.js';
import { isFlushed, waitForDrain } from './backpressure.js';
import { JSON_ANSWER_TYPE } from './gateway-headers.js';
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
  response: Response,
  parts: Iterable<string>,
  sourceBytes: number,
): Promise<void> {
  const copy = copyOf(response);
  if (copy) {
    await sendKept(response, parts, copy);
    return;
  }
  await sendPieces(response, parts, sourceBytes);
}

async function sendPieces(
  response: Response,
  parts: Iterable<string>,
  sourceBytes: number,
): Promise<void> {
  response.setHeader('content-type', JSON_ANSWER_TYPE);
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

/** Makes the parts for the copy first, whose end the head tells; what is too large for it is sent as it is made. */
async function sendKept(
  response: Response,
  parts: Iterable<string>,
  copy: AnswerCopy,
): Promise<void> {
  const made: string[] = [];
  const rest = parts[Symbol.iterator]();
  let turnMs = performance.now();
  while (copy.isOpen) {
    const next = rest.next();
    if (next.done === true) break;
    copy.add(next.value);
    made.push(next.value);
    if (performance.now() - turnMs < TURN_MS) continue;
    await yieldLoop();
    turnMs = performance.now();
  }
  await copy.keep(response, JSON_ANSWER_TYPE);
  const bytes = made.reduce((sum, text) => sum + text.length, 0);
  await sendPieces(response, chain(made, rest), bytes);
}

function* chain(made: readonly string[], rest: Iterator<string>): Generator<string> {
  yield* made;
  for (let next = rest.next(); next.done !== true; next = rest.next()) yield next.value;
}
