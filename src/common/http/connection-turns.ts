import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { requestLaneOf, type OverloadGate } from './overload-gate.js';
import type { OverloadRefusal } from './overload-refusal.js';
import { STALL_MS } from './reader-pace.js';
import { interceptRequests } from './request-parser.js';
import { RequestPace } from './request-pace.js';

/** Limits of one connection. */
export interface ConnectionLimits {
  /** Requests that may wait behind the one that is being answered. One more cuts the connection. */
  readonly maxWaiting: number;
  /** Characters in the heads of the waiting requests, in all. */
  readonly maxWaitingCharacters: number;
  /** How often connections are checked. */
  readonly checkMs: number;
  /** After this many checks in a row in which no byte was sent, the connection is cut. */
  readonly maxSilentChecks: number;
  /** After this many checks in a row without a request, the connection is cut. */
  readonly maxIdleChecks: number;
}

/** Decides which requests are refused unread, and how. */
export interface Overload {
  readonly gate: OverloadGate;
  readonly refusal: OverloadRefusal;
}

const CHECK_MS = 5_000;

/**
 * The connection of a reader that takes nothing for 30 s is cut, whatever the answer is. So is one without a request for
 * 80 s: Node cuts it after 65 s, but starts anew at each byte, even at a line end between requests.
 */
export const CONNECTION_LIMITS: ConnectionLimits = {
  maxWaiting: 4,
  maxWaitingCharacters: 65_536,
  checkMs: CHECK_MS,
  maxSilentChecks: STALL_MS / CHECK_MS,
  maxIdleChecks: 16,
};
/** A body up to this length is dropped as it arrives. Longer ones are read in the usual way, and cut when they are slow. */
const SMALL_BODY_BYTES = 16_384;

/**
 * Serves the requests of one connection one after the other: the next one waits until the answer was sent. Node alone
 * serves all requests of a client at once, and keeps every answer in memory if the client reads none. With this class a
 * running answer has the connection for itself and notices when it closes.
 */
export class ConnectionTurns {
  /** Of the connections that have sent a request and are open. */
  private readonly turns = new Map<Socket, Turn>();
  private readonly pace = new RequestPace();
  private readonly serve: RequestListener;
  private overload: Overload | undefined;

  constructor(
    serve: RequestListener,
    private readonly limits: ConnectionLimits = CONNECTION_LIMITS,
  ) {
    this.serve = (request, response) => {
      const { gate, refusal } = this.overload ?? {};
      if (gate?.refuses(request)) {
        refusal?.answer(request, response);
        return;
      }
      const begin = (): void => {
        // Behind an answer that closes the connection, Node sends no other and never ends it.
        if (request.socket.writable) serve(request, response);
      };
      if (this.pace.mayBegin()) {
        begin();
        return;
      }
      this.pace.wait(gate ? gate.counted(request, begin) : begin, requestLaneOf(request));
    };
  }

  /** From now on requests may be refused because there is too much to do. */
  guard(overload: Overload): void {
    this.overload = overload;
  }

  /** The listener for every request of the server. */
  readonly take: RequestListener = (request, response) => {
    const { socket } = request;
    const turn = this.turnOf(socket);
    turn.take(request, response);
    const { maxWaiting, maxWaitingCharacters } = this.limits;
    if (turn.waiting > maxWaiting || turn.waitingCharacters > maxWaitingCharacters)
      socket.destroy();
  };

  /** Cuts off slow readers, idle connections, and clients that send too many requests ahead, as long as the server runs. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => {
      interceptRequests(socket, (request) => this.refusesUnread(socket, request));
    });
    const timer = setInterval(() => {
      for (const turn of this.turns.values()) turn.check(this.limits);
    }, this.limits.checkMs).unref();
    server.once('close', () => {
      clearInterval(timer);
    });
  }

  /**
   * Refuses a small request on an idle connection before Node makes an answer for it, for half of the CPU. Node's timer of
   * idle connections does not see it.
   */
  private refusesUnread(socket: Socket, request: IncomingMessage): boolean {
    const { overload } = this;
    if (!overload?.gate.refuses(request)) return false;
    if (!socket.writable || socket.writableLength > 0 || !isSmall(request)) return false;
    const turn = this.turnOf(socket);
    if (turn.isBusy || turn.wasRefused) return false;
    turn.idleChecks = 0;
    // What else it has sent ahead is queued, within the limits of every connection.
    turn.wasRefused = true;
    setImmediate(() => (turn.wasRefused = false));
    dropBody(request);
    socket.write(overload.refusal.text(request), 'latin1');
    return true;
  }

  private turnOf(socket: Socket): Turn {
    let turn = this.turns.get(socket);
    if (turn === undefined) {
      turn = new Turn(socket, this.serve);
      this.turns.set(socket, turn);
      socket.once('close', () => this.turns.delete(socket));
    }
    return turn;
  }
}

/** What Node's parser looks at before it keeps a part of the body. It is not part of Node's public interface. */
interface DroppableBody {
  _dumped?: boolean;
}

/** The parser drops the body as it arrives. Nobody reads it, so it would stay in memory until the next request. */
function dropBody(request: IncomingMessage): void {
  (request as IncomingMessage & DroppableBody)._dumped = true;
}

/** Whether its body may be left unread. */
function isSmall({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'POST' || method === 'GET') &&
    headers.upgrade === undefined &&
    headers.expect === undefined &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) <= SMALL_BODY_BYTES
  );
}

/** The requests of one connection. */
class Turn {
  private readonly queue: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** Characters of the heads in the queue. */
  waitingCharacters = 0;
  isBusy = false;
  private sentBytes = 0;
  private silentChecks = 0;
  /** Whether a request was refused in this turn of the event loop. */
  wasRefused = false;
  idleChecks = 0;

  constructor(
    private readonly socket: Socket,
    private readonly serve: RequestListener,
  ) {}

  get waiting(): number {
    return this.queue.length;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isBusy) {
      this.begin(request, response);
      return;
    }
    this.queue.push([request, response]);
    this.waitingCharacters += headCharacters(request);
  }

  /** Cuts the connection if bytes wait and none was sent for too long, or if no request came for too long. */
  check({ maxSilentChecks, maxIdleChecks }: ConnectionLimits): void {
    this.idleChecks = this.isBusy ? 0 : this.idleChecks + 1;
    const sentBytes = bytesSent(this.socket);
    const isSilent = this.socket.writableLength > 0 && sentBytes === this.sentBytes;
    this.sentBytes = sentBytes;
    this.silentChecks = isSilent ? this.silentChecks + 1 : 0;
    if (this.silentChecks >= maxSilentChecks || this.idleChecks >= maxIdleChecks)
      this.socket.destroy();
  }

  private begin(request: IncomingMessage, response: ServerResponse): void {
    this.isBusy = true;
    this.silentChecks = 0;
    this.idleChecks = 0;
    response.once('close', () => {
      this.next();
    });
    this.serve(request, response);
  }

  private next(): void {
    this.isBusy = false;
    const following = this.queue.shift();
    if (following === undefined || this.socket.destroyed) return;
    this.waitingCharacters -= headCharacters(following[0]);
    this.begin(...following);
  }
}

function headCharacters({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}

/** Bytes that were sent. Bytes that wait in the kernel, in Node or here do not count. */
function bytesSent(socket: Socket): number {
  // Without it a large answer, which is one write, would seem to make no progress until all of it was sent.
  const { writeQueueSize = 0 } =
    (socket as unknown as { _handle?: { writeQueueSize?: number } | null })._handle ?? {};
  return socket.bytesWritten - socket.writableLength - writeQueueSize;
}
