import type { Response } from 'express';
import { cutOff } from './cut-off.js';

/** A client that takes nothing for this long counts as gone, whatever the answer is. */
export const STALL_MS = 30_000;

/** Whether a write that filled the answer was taken at once. Nobody has to wait for its `drain` then, if one comes. */
export function tookAll({ socket }: Response): boolean {
  return socket !== null && (socket.writableLength === 0 || !socket.writableNeedDrain);
}

/** Calls back once when the reader of an answer leaves or is cut off before the end, or at once if that has happened already. */
export function onReaderGone(response: Response, listener: () => void): void {
  const tell = (): void => {
    if (!response.writableFinished) listener();
  };
  if (response.destroyed) tell();
  else response.on('close', tell);
}

/** Resolves when a full answer takes bytes again, or when its reader is gone; a reader that stalls is cut off. */
export function writableAgain(response: Response, stallMs = STALL_MS): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const stall = setTimeout(() => {
      cutOff(response);
    }, stallMs);
    // Thousands of readers wait many times a second: nothing is left over that would have to be collected.
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
