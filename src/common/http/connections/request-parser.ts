import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** What Node's parser of a connection does with a request. It is not part of Node's public interface. */
interface RequestParser {
  onIncoming?: ((request: IncomingMessage, keepsAlive: boolean) => unknown) | null;
}
/** The parser takes it for the end of HTTP on this connection. */
const PARSE_NO_MORE = 2;
/** The parser goes on with the body, which nobody reads. */
const PARSE_ON = 0;

/** Connections from which no further request is taken. */
const full = new WeakSet<Duplex>();

/** What is asked about each request of a connection before Node makes an answer for it. */
export interface RequestJudge {
  /** Whether it is one too many: neither it nor what follows is read, and {@link onFull} is called. */
  readonly isTooMany: (request: IncomingMessage) => boolean;
  readonly onFull: () => void;
  /** Whether it was refused, and needs no answer. */
  readonly refuses: (request: IncomingMessage) => boolean;
}

/** Whether what comes on the connection is no longer read. */
export function isFull(socket: Duplex): boolean {
  return full.has(socket);
}

/**
 * Passes on the requests that are neither refused nor too many. On a connection that was cut, or takes no more, Node would
 * parse the rest of the chunk that it has read: 64 kB can hold 3,600 requests and cost 5 MB per connection.
 */
export function interceptRequests(socket: Socket, judge: RequestJudge): void {
  const { parser } = socket as { parser?: RequestParser };
  const take = parser?.onIncoming;
  if (!parser || !take) return;
  parser.onIncoming = (request, keepsAlive) => {
    if (socket.destroyed || full.has(socket)) return PARSE_NO_MORE;
    if (judge.isTooMany(request)) {
      full.add(socket);
      judge.onFull();
      return PARSE_NO_MORE;
    }
    return keepsAlive && succeeds(judge.refuses, request) ? PARSE_ON : take(request, keepsAlive);
  };
}

/** A request that cannot be judged is served in the usual way, where the same error ends it alone. */
function succeeds(judge: (request: IncomingMessage) => boolean, request: IncomingMessage): boolean {
  try {
    return judge(request);
  } catch {
    return false;
  }
}
