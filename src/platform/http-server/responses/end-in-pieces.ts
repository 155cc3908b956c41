import { ServerResponse } from 'node:http';
import { isFlushed, waitForDrain } from './backpressure.js';
import { countWaiting } from './response-memory-limit.js';

/** Bytes per write of a long response. */
const PIECE_BYTES = 65_536;

/**
 * The `end` of the responses of a server. A long body is written in pieces, each after the client has read the one
 * before. In one write, a slow client would look like one that reads nothing: Node reports only whole writes.
 */
export function endInPieces<T extends ServerResponse>(this: T, ...args: unknown[]): T {
  const [bytes, callback] = args;
  if (!Buffer.isBuffer(bytes) || bytes.length <= PIECE_BYTES || callback !== undefined) {
    // eslint-disable-next-line @typescript-eslint/unbound-method -- it is applied to this response
    Reflect.apply(ServerResponse.prototype.end, this, args);
    return this;
  }
  // As Node does it for a body that is one write.
  if (!this.headersSent) this.setHeader('Content-Length', bytes.length);
  void sendPieces(this, bytes);
  return this;
}

async function sendPieces(response: ServerResponse, bytes: Buffer): Promise<void> {
  let at = 0;
  countWaiting(response, () => bytes.length - at);
  while (at < bytes.length) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    at += piece.length;
    if (!response.write(piece) && !isFlushed(response)) await waitForDrain(response);
    if (response.destroyed) return;
  }
  response.end();
}
