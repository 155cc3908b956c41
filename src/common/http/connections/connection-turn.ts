import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { cutOff } from '../answers/cut-off.js';
import { type UnreadAnswer, waitingBytes } from '../answers/unread-answers.js';

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
export class ConnectionTurn {
  private readonly queue: (readonly [IncomingMessage, ServerResponse])[] = [];
  /** The answer that has the connection. */
  private answer: ServerResponse | undefined;
  /** Characters of the heads in the queue. */
  private waitingCharacters = 0;
  isBusy = false;
  private isLast = false;
  private sentBytes = 0;
  private silentChecks = 0;
  /** Whether a request was refused in this turn of the event loop. */
  wasRefused = false;
  idleChecks = 0;

  constructor(
    private readonly socket: Socket,
    private readonly serve: RequestListener,
  ) {}

  /** Whether the request would be one more than may wait. */
  isTooMany(request: IncomingMessage, { maxWaiting, maxWaitingCharacters }: ConnectionLimits) {
    if (!this.isBusy) return false;
    const characters = this.waitingCharacters + headCharacters(request);
    return this.queue.length >= maxWaiting || characters > maxWaitingCharacters;
  }

  /** Closes the connection after the last of the requests that it has taken, whose answer says so. */
  closeAfterLast(): void {
    this.isLast = true;
    const last = this.queue.at(-1)?.[1] ?? this.answer;
    if (last && !last.headersSent) last.shouldKeepAlive = false;
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    if (!this.isBusy) {
      this.begin(request, response);
      return;
    }
    this.queue.push([request, response]);
    this.waitingCharacters += headCharacters(request);
  }

  /** Bytes in memory of the answer that the reader has not taken, and of what its provider may have sent beyond. */
  get unreadBytes(): number {
    const { answer } = this;
    if (answer === undefined || answer.writableLength === 0) return 0;
    const readAhead = answer.writableEnded ? 0 : READ_AHEAD_BYTES;
    return answer.writableLength + waitingBytes(answer) + readAhead;
  }

  /** What is unread, for a comparison with other answers. */
  unread(holderOf: (request: IncomingMessage) => string): UnreadAnswer | undefined {
    const { unreadBytes, answer } = this;
    if (answer === undefined || unreadBytes === 0) return undefined;
    const takenBytes = bytesSent(this.socket) - this.sentBytes;
    return {
      holder: holderOf(answer.req),
      unreadBytes,
      takenBytes,
      cut: () => {
        this.cut();
      },
    };
  }

  /** Cuts the connection if bytes wait and none was sent for too long, or if no request came for too long. */
  check({ maxSilentChecks, maxIdleChecks }: ConnectionLimits): void {
    this.idleChecks = this.isBusy ? 0 : this.idleChecks + 1;
    const sentBytes = bytesSent(this.socket);
    const isSilent = this.socket.writableLength > 0 && sentBytes === this.sentBytes;
    this.sentBytes = sentBytes;
    this.silentChecks = isSilent ? this.silentChecks + 1 : 0;
    if (this.silentChecks >= maxSilentChecks || this.idleChecks >= maxIdleChecks) this.cut();
  }

  private cut(): void {
    if (this.answer) cutOff(this.answer);
    this.socket.destroy();
  }

  private begin(request: IncomingMessage, response: ServerResponse): void {
    this.isBusy = true;
    this.answer = response;
    this.silentChecks = 0;
    this.idleChecks = 0;
    response.on('close', () => {
      this.next();
    });
    this.serve(request, response);
  }

  private next(): void {
    this.isBusy = false;
    this.answer = undefined;
    const following = this.queue.shift();
    if (following === undefined && this.isLast) this.socket.end();
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
