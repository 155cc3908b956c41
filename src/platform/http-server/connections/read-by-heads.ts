import type { Socket } from 'node:net';

/** The end of the head of a request, and of a body of chunks. */
const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 0x0d;
const LF = 0x0a;

/** What is known of the requests of a connection. */
export interface ConnectionState {
  /** Whether no more requests are taken. */
  readonly isFull: boolean;
  /** Bytes still to come of a body that is to be parsed apart from what follows. */
  bodyBytesApart: number;
}

/**
 * Gives Node's parser the bytes of a connection by one head at a time, and drops them once the turn is full. One read of
 * a connection can hold 3,600 requests: Node would make objects for each and keep them until the connection closes. And
 * behind a request that offers an upgrade, Node's parser would drop the rest of what it was given.
 */
export function readByHeads(socket: Socket, stateOf: () => ConnectionState | undefined): void {
  const [parse] = socket.listeners('data');
  if (!parse) return;
  socket.removeListener('data', parse as (bytes: Buffer) => void);
  socket.on('data', (bytes: Buffer) => {
    let rest = bytes;
    while (rest.length > 0 && !socket.destroyed) {
      const state = stateOf();
      if (state?.isFull) return;
      // Node reads no further while answers wait for their reader.
      if (socket.isPaused()) {
        socket.unshift(rest);
        return;
      }
      const length = lengthOfPart(rest, state);
      parse.call(socket, length < rest.length ? rest.subarray(0, length) : rest);
      rest = rest.subarray(length);
    }
  });
}

/** How many of the bytes are parsed at once: nothing behind the end of a head is. */
function lengthOfPart(bytes: Buffer, state: ConnectionState | undefined): number {
  if (state && state.bodyBytesApart > 0) {
    const length = Math.min(state.bodyBytesApart, bytes.length);
    state.bodyBytesApart -= length;
    return length;
  }
  // They may be the last part of an end that another read has begun.
  const lineEnds = bytes.findIndex((byte) => byte !== CR && byte !== LF);
  if (lineEnds !== 0) return lineEnds < 0 ? bytes.length : lineEnds;
  const end = bytes.indexOf(HEAD_END);
  return end < 0 ? bytes.length : end + HEAD_END.length;
}
