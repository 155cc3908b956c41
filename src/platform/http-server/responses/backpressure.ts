import type { ServerResponse } from 'node:http';
import { abortResponse } from './abort-response.js';

/** A client that takes nothing for this long counts as gone, whatever the answer is. */
export const STALL_MS = 30_000;

/** Whether the socket took everything at once although the write said that the answer is full. Then no `drain` may follow. */
export function isFlushed({ socket }: ServerResponse): boolean {
  return socket !== null && (socket.writableLength === 0 || !socket.writableNeedDrain);
}

/** Calls back once when the reader of an answer leaves or is cut off before the end, or at once if that has happened already. */
export function onClientDisconnect(response: ServerResponse, listener: () => void): void {
  const tell = (): void => {
    if (!response.writableFinished) listener();
  };
  if (response.destroyed) tell();
  else response.on('close', tell);
}

/** Resolves when a full answer takes bytes again, or when its reader is gone; a reader that stalls is cut off. */
export function waitForDrain(response: ServerResponse, stallMs = STALL_MS): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const stall = setTimeout(() => {
      abortResponse(response);
    }, stallMs);
    // Thousands of readers wait many times a second, so the listeners are removed, not left to the garbage collector.
    const goOn = (): void => {
      clearTimeout(stall);
      response.off('drain', goOn);
      response.off('close', goOn);
      resolve();
    };
    response.once('drain', goOn);
    response.once('close', goOn);
  });
}
