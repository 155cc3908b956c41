import type { Socket } from 'node:net';

/** The end of the head of a request. */
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Gives Node's parser the bytes of a connection by one head at a time, and drops them once `isFull`. One read of a
 * connection can hold 3,600 requests: Node would make objects for each and keep them until the connection closes.
 */
export function readByHeads(socket: Socket, isFull: () => boolean): void {
  const [parse] = socket.listeners('data');
  if (!parse) return;
  socket.removeListener('data', parse as (bytes: Buffer) => void);
  socket.on('data', (bytes: Buffer) => {
    let rest = bytes;
    while (rest.length > 0 && !socket.destroyed && !isFull()) {
      // Node reads no further while answers wait for their reader.
      if (socket.isPaused()) {
        socket.unshift(rest);
        return;
      }
      const length = lengthOfOneHead(rest);
      parse.call(socket, length < rest.length ? rest.subarray(0, length) : rest);
      rest = rest.subarray(length);
    }
  });
}

/** How many of the bytes hold at most one end of a head. */
function lengthOfOneHead(bytes: Buffer): number {
  const end = bytes.indexOf(HEAD_END);
  const next = end + HEAD_END.length;
  return end < 0 || bytes.indexOf(HEAD_END, next) < 0 ? bytes.length : next;
}
