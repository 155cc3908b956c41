import type { IncomingMessage } from 'node:http';

/** Longest time the rest of a refused body is read and dropped. */
const LINGER_MS = 30_000;
/** Longest pause in it. */
const LINGER_IDLE_MS = 1_000;

/**
 * Throws the rest of a body away that nobody will read, then cuts the connection if there is still more of it. Closing at
 * once would reset the connection while the client still sends, and most clients would never see the answer.
 */
export function discardRest(request: IncomingMessage): void {
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
  request.on('data', () => idle.refresh());
  request.once('end', stop).once('close', stop).on('error', stop);
  request.resume();
}
