import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { abortResponse } from '../responses/abort-response.js';
import { type UnflushedResponse, waitingBytes } from '../responses/response-memory-limit.js';
import type { ConnectionState } from './read-by-heads.js';

/** What the connection of a provider may hold for an answer that is still arriving: one read of a socket. */
const READ_AHEAD_BYTES = 65_536;

/** Limits of one connection. */
export interface ConnectionLimits {
  /** Requests that may wait behind the one that is being answered. The connection takes no more, and closes after them. */
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

/** The requests of one connection. */
export class PipelinedConnection implements ConnectionState {
  private readonly queue: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** The answer that has the connection. */
  private current: ServerResponse | undefined;
  /** Characters of the heads in the queue. */
  private waitingCharacters = 0;
  private isBusy = false;
  /** Whether no more requests are taken. */
  isFull = false;
  bodyBytesApart = 0;
  private sentBytes = 0;
  private silentChecks = 0;
  private idleChecks = 0;

  constructor(
    private readonly socket: Socket,
    private readonly serve: RequestListener,
    private readonly limits: ConnectionLimits,
  ) {}

  /** Serves the request, now or when its turn has come. One that is more than may wait is dropped. */
  take(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isFull && this.isTooMany(request)) this.takeNoMore();
    if (this.isFull) return;
    this.bodyBytesApart = offersUpgrade(request) ? byteAccumulator(request) : 0;
    if (!this.isBusy) this.begin(request, response);
    else {
      this.queue.push([request, response]);
      this.waitingCharacters += headCharacters(request);
    }
  }

  /** Closes the connection after the last of the requests that it has taken, whose answer says so. */
  takeNoMore(): void {
    if (this.isFull) return;
    this.isFull = true;
    const last = this.queue.at(-1)?.[1] ?? this.current;
    if (last && !last.headersSent) last.setHeader('Connection', 'close');
  }

  /** Whether an answer is under way: its head was sent, or its request is complete. */
  get isResponding(): boolean {
    const { current } = this;
    return current !== undefined && (current.headersSent || current.req.complete);
  }

  /** Bytes in memory of the answer that the reader has not taken, and of what its provider may have sent beyond. */
  get unreadBytes(): number {
    const { current } = this;
    if (current === undefined || current.writableLength === 0) return 0;
    const readAhead = current.writableEnded ? 0 : READ_AHEAD_BYTES;
    return current.writableLength + waitingBytes(current) + readAhead;
  }

  /** What is unread, for a comparison with other answers. */
  unread(holderOf: (request: IncomingMessage) => string): UnflushedResponse | undefined {
    const { unreadBytes, current } = this;
    if (current === undefined || unreadBytes === 0) return undefined;
    const takenBytes = bytesSent(this.socket) - this.sentBytes;
    return {
      holder: holderOf(current.req),
      unreadBytes,
      takenBytes,
      cut: () => {
        this.cut();
      },
    };
  }

  /** Cuts the connection if bytes wait and none was sent for too long, or if no request came for too long. */
  check(): void {
    const { maxSilentChecks, maxIdleChecks } = this.limits;
    this.idleChecks = this.isBusy ? 0 : this.idleChecks + 1;
    const sentBytes = bytesSent(this.socket);
    const isSilent = this.socket.writableLength > 0 && sentBytes === this.sentBytes;
    this.sentBytes = sentBytes;
    this.silentChecks = isSilent ? this.silentChecks + 1 : 0;
    if (this.silentChecks >= maxSilentChecks || this.idleChecks >= maxIdleChecks) this.cut();
  }

  private isTooMany(request: IncomingMessage): boolean {
    if (!this.isBusy) return false;
    const { maxWaiting, maxWaitingCharacters } = this.limits;
    const characters = this.waitingCharacters + headCharacters(request);
    return this.queue.length >= maxWaiting || characters > maxWaitingCharacters;
  }

  private cut(): void {
    if (this.current) abortResponse(this.current);
    this.socket.destroy();
  }

  private begin(request: IncomingMessage, response: ServerResponse): void {
    this.isBusy = true;
    this.current = response;
    this.silentChecks = 0;
    this.idleChecks = 0;
    response.on('close', () => {
      this.next();
    });
    this.serve(request, response);
  }

  private next(): void {
    this.isBusy = false;
    this.current = undefined;
    const following = this.queue.shift();
    if (following === undefined && this.isFull) this.socket.destroySoon();
    if (following === undefined || this.socket.destroyed) return;
    this.waitingCharacters -= headCharacters(following[0]);
    this.begin(...following);
  }
}

function headCharacters({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}

/** No offer is accepted (RFC 9110, section 7.8), such as that of HTTP/2 which Java's own client makes without TLS. */
function offersUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** 0 for a body of chunks. */
function byteAccumulator({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : 0;
}

/** Bytes that were sent. A write that is under way counts once all of it was sent: {@link endInPieces} keeps writes short. */
function bytesSent(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}
