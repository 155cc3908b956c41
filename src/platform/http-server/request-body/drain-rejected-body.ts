import type { IncomingMessage } from 'node:http';
import { ChunkCount } from './byte-accumulator.js';

/** Longest time for which the rest of a rejected body is read and dropped. */
const LINGER_MS = 30_000;
/** Longest pause within the rest of the body. */
const LINGER_IDLE_MS = 1_000;

/**
 * Reads and drops the rest of a body, and closes the connection if it does not end in time. If the connection were
 * closed at once, it would be reset while the client still sends, and most clients would never see the response.
 */
export function drainRejectedBody(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return;
  const cut = (): void => {
    if (!request.complete) request.destroy();
  };
  const total = setTimeout(cut, LINGER_MS).unref();
  const idle = setTimeout(cut, LINGER_IDLE_MS).unref();
  const stop = (): void => {
    clearTimeout(total);
    clearTimeout(idle);
  };
  const count = new ChunkCount();
  request.on('data', (chunk: Buffer) => {
    idle.refresh();
    if (!count.add(chunk.length)) cut();
  });
  request.once('end', stop).once('close', stop).on('error', stop);
  request.resume();
}
