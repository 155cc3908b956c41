import { Socket } from 'node:net';

/**
 * A socket, not yet connected, that fails with `ETIMEDOUT` when no byte passes for `limitMs`. It is for a server that
 * vanished without closing the connection, because the server's own time limits do not work then.
 */
export function idleTimeoutSocket(limitMs: number): Socket {
  // The client that connects it learns of its errors. One that gave up listens no longer.
  const socket = new Socket().on('error', () => undefined);
  socket.setTimeout(limitMs, () => {
    const silence = new Error(`The database was silent for ${limitMs} ms`);
    socket.destroy(Object.assign(silence, { code: 'ETIMEDOUT' }));
  });
  return socket;
}
