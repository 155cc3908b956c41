import type { Socket } from 'node:net';

/** The end of the head of a request, and of a chunked body. */
const HEAD_END = Buffer.from('\r\n\r\n');
const CR = 0x0d;
const LF = 0x0a;

/** State of a connection that decides how its bytes are parsed. */
export interface ConnectionState {
  /** Whether further bytes are dropped. */
  readonly isFull: boolean;
  /** Remaining bytes of a body that must be parsed separately from what follows it. */
  bodyBytesApart: number;
}

/**
 * Passes the bytes of a connection to Node's parser one request head at a time, and drops them once the connection is
 * full. One read of a connection can hold 3,600 requests: Node would create objects for each and keep them until the
 * connection closes. Behind a request that offers an upgrade, Node's parser would drop the rest of what it was given.
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
      // Node pauses the socket while responses wait for a slow client.
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

/** Number of bytes to parse now: at most up to the end of a head. */
function lengthOfPart(bytes: Buffer, state: ConnectionState | undefined): number {
  if (state && state.bodyBytesApart > 0) {
    const length = Math.min(state.bodyBytesApart, bytes.length);
    state.bodyBytesApart -= length;
    return length;
  }
  // They may complete a head end that the previous read began.
  const lineEnds = bytes.findIndex((byte) => byte !== CR && byte !== LF);
  if (lineEnds !== 0) return lineEnds < 0 ? bytes.length : lineEnds;
  const end = bytes.indexOf(HEAD_END);
  return end < 0 ? bytes.length : end + HEAD_END.length;
}
