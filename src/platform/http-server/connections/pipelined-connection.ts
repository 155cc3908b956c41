import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { abortResponse } from '../responses/backpressure.js';
import { type UnflushedResponse, waitingBytes } from '../responses/response-memory-limit.js';
import type { ConnectionState } from './read-by-heads.js';

/** Most bytes that the connection to a provider may hold for an unfinished response: one read of a socket. */
const READ_AHEAD_BYTES = 65_536;

/** Limits of one connection. */
export interface ConnectionLimits {
  /**
   * Requests that may wait behind the current one. With one more, no further request is read, and the connection closes
   * after the last response.
   */
  readonly maxWaiting: number;
  /** Total characters in the heads of the waiting requests. */
  readonly maxWaitingCharacters: number;
  /** How often connections are checked. */
  readonly checkMs: number;
  /** After this many consecutive checks without a byte sent, the connection is closed. */
  readonly maxSilentChecks: number;
  /** After this many consecutive checks without a request, the connection is closed. */
  readonly maxIdleChecks: number;
}

/** The requests of one connection. */
export class PipelinedConnection implements ConnectionState {
  private readonly queue: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** The response that is being sent; undefined while the connection is idle. */
  private current: ServerResponse | undefined;
  /** Characters of the heads in the queue. */
  private waitingCharacters = 0;
  private isBusy = false;
  /** Whether further requests are dropped. */
  isFull = false;
  /** Whether the connection closes after the response under way. */
  private isLeaving = false;
  bodyBytesApart = 0;
  private sentBytes = 0;
  private silentChecks = 0;
  private idleChecks = 0;

  constructor(
    private readonly socket: Socket,
    private readonly serve: RequestListener,
    private readonly limits: ConnectionLimits,
  ) {}

  /** Serves the request at once, or after the requests before it. Requests beyond the limits are dropped. */
  take(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isFull && this.isTooMany(request)) this.takeNoMore();
    if (this.isFull) return;
    this.bodyBytesApart = offersUpgrade(request) ? bodyBytesOf(request) : 0;
    if (!this.isBusy) this.begin(request, response);
    else {
      this.queue.push([request, response]);
      this.waitingCharacters += headCharacters(request);
    }
  }

  /** Accepts no more requests; the last accepted response has `Connection: close`. */
  takeNoMore(): void {
    if (this.isFull) return;
    this.isFull = true;
    this.closeAfterResponses();
  }

  /** Closes the connection once its last accepted request has its response, which says so if it has not begun. */
  closeAfterResponses(): void {
    this.isLeaving = true;
    const last = this.queue.at(-1)?.[1] ?? this.current;
    if (last && !last.headersSent) last.setHeader('Connection', 'close');
  }

  /** The response that is being made or sent; undefined while the connection is idle. */
  get response(): ServerResponse | undefined {
    return this.current;
  }

  /** Whether a response is in progress: its head was sent, or its request is complete. */
  get isResponding(): boolean {
    const { current } = this;
    return current !== undefined && (current.headersSent || current.req.complete);
  }

  /** Bytes of the response in memory that the client has not read, plus what the provider may have sent ahead. */
  get unreadBytes(): number {
    const { current } = this;
    if (current === undefined || current.writableLength === 0) return 0;
    const readAhead = current.writableEnded ? 0 : READ_AHEAD_BYTES;
    return current.writableLength + waitingBytes(current) + readAhead;
  }

  /** The unflushed part of the response; undefined if there is none. For the comparison with other responses. */
  unread(bucketOf: (request: IncomingMessage) => string): UnflushedResponse | undefined {
    const { unreadBytes, current } = this;
    if (current === undefined || unreadBytes === 0) return undefined;
    const takenBytes = bytesSent(this.socket) - this.sentBytes;
    return {
      bucket: bucketOf(current.req),
      unreadBytes,
      takenBytes,
      disconnect: () => {
        this.cut();
      },
    };
  }

  /** Closes the connection if no buffered byte was sent for too long, or if no request came for too long. */
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
    if (following === undefined && this.isLeaving) this.socket.destroySoon();
    if (following === undefined || this.socket.destroyed) return;
    this.waitingCharacters -= headCharacters(following[0]);
    this.begin(...following);
  }
}

function headCharacters({ url = '', rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, url.length);
}

/** Upgrades are never accepted (RFC 9110, section 7.8). Java clients offer HTTP/2 when they connect without TLS. */
function offersUpgrade({ headers }: IncomingMessage): boolean {
  return headers.upgrade !== undefined;
}

/** The declared length of the body; 0 for a chunked body. */
function bodyBytesOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : 0;
}

/** Bytes that were sent. A write counts only once it is complete; {@link endInPieces} keeps writes short. */
function bytesSent(socket: Socket): number {
  return socket.bytesWritten - socket.writableLength;
}
