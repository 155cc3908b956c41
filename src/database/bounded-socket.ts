import { Socket } from 'node:net';

/**
 * A socket, not yet connected, that breaks with `ETIMEDOUT` when nothing passes through it for `limitMs`.
 * Against a peer that vanished without a word: the server's own time limits cannot reach us then.
 */
export function boundedSocket(limitMs: number): Socket {
  const socket = new Socket();
  socket.setTimeout(limitMs, () => {
    const silence = new Error(`The database was silent for ${limitMs} ms`);
    socket.destroy(Object.assign(silence, { code: 'ETIMEDOUT' }));
  });
  return socket;
}
