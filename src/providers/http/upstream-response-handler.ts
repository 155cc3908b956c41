import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import { TOO_LATE } from '../ports/attempt.js';
import type { EventLoopPacer } from '../../platform/fairness/event-loop-pacer.js';

/** The head of a response, and its body while it arrives. */
export interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** For whom a request is sent. */
interface RequestOwner {
  /** Empty outside of any call. */
  readonly accountId: string;
  /** Asked before the first byte is written; where it is false, the request fails with the code {@link TOO_LATE}. */
  readonly maySend?: (() => boolean) | undefined;
}

/** Bytes that are read ahead of a slow reader before the upstream socket is paused. */
const BODY_BUFFER_BYTES = 16 * 1024;
/** The usual size of one read of a socket. After this many bytes a response asks the pacer. */
const READ_BYTES = 64 * 1024;
/**
 * Reads of long responses in one iteration of the event loop, of all providers together. Without the limit hundreds of
 * providers that send faster than models write delay all other callers by seconds: an ordinary call needs some ten
 * iterations. The pacer serves accounts round-robin.
 */
export const READS_PER_ITERATION = 2;
/** Most informational responses (1xx) before the response. Each restarts the wait for the head. */
const MAX_ANNOUNCEMENTS = 64;
/** Most bytes that are read ahead if the socket cannot be paused. */
const UNPAUSED_BUFFER_BYTES = 128 * 1024 * 1024;

/**
 * One request on a pooled connection. `answered` resolves with the head. The body fails when the connection breaks;
 * destroying the body closes the connection. An aborted signal rejects (or breaks the body) with the reason of the
 * signal.
 */
export class UpstreamResponseHandler implements Dispatcher.DispatchHandler {
  readonly answered: Promise<ResponseHead>;
  /** Whether the request was ever put on a connection. False means that the provider cannot have received it. */
  sent = false;
  /** Whether the connection can be left unread while the reader is slow. Otherwise the body waits in memory. */
  mayPause = true;

  private controller: Dispatcher.DispatchController | undefined;
  private body: ResponseBody | undefined;
  private isFull = false;
  private isPaused = false;
  private waits = false;
  private uncountedBytes = 0;
  private announcements = 0;
  private resolve!: (head: ResponseHead) => void;
  private reject!: (error: Error) => void;

  constructor(
    private readonly signal: AbortSignal | undefined,
    private readonly bodyError: (error: Error, headers: IncomingHttpHeaders) => Error,
    private readonly pacer: EventLoopPacer,
    private readonly owner: RequestOwner,
  ) {
    this.answered = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    signal?.addEventListener('abort', this, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.signal?.aborted) controller.abort(this.reason());
    else if (this.owner.maySend?.() === false) controller.abort(tooLate());
    else this.sent = true;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    statusText = '',
  ): void {
    if (status < 200) {
      this.announcements += 1;
      if (this.announcements > MAX_ANNOUNCEMENTS) controller.abort(announcedOnly());
      return;
    }
    this.mayPause = staysOpen(headers);
    // Raw headers are slices of the first read, which would stay in memory as a whole until the response ends.
    controller.rawHeaders = null;
    // The reader of the body gets the error. Until there is one, the error is ignored.
    this.body = new ResponseBody(this, headers).on('error', () => undefined);
    this.resolve({ status, statusText, headers, body: this.body });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    const { body } = this;
    if (!body) return;
    this.isFull = !body.push(chunk);
    const mayReadOn = this.mayReadOn(chunk.length);
    if (!this.mayPause) {
      if (body.readableLength > UNPAUSED_BUFFER_BYTES) controller.abort(new Error('unread'));
      return;
    }
    if (this.isFull || this.isPaused || !mayReadOn) controller.pause();
    if (mayReadOn || this.waits) return;
    this.waits = true;
    this.pacer.wait(this.owner.accountId, () => {
      this.waits = false;
      this.goOn();
    });
  }

  onResponseEnd(): void {
    this.detach();
    this.body?.push(null);
    this.body = undefined;
    this.controller = undefined;
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.detach();
    const { body } = this;
    // Destroyed with this error first: code that reads the body later gets it as `errored`, and no later error
    // replaces it.
    if (body) body.destroy(this.signal?.aborted ? error : this.bodyError(error, body.headers));
    else this.reject(error);
  }

  /** The reader has space in its buffer. */
  readOn(): void {
    this.isFull = false;
    this.goOn();
  }

  /** The reader pauses or resumes. While it pauses, the connection is not read. */
  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    if (!isPaused) this.goOn();
    else if (this.mayPause) this.controller?.pause();
  }

  /** The reader has destroyed the body, or the connection broke. */
  abandon(error: Error | null): void {
    if (!this.controller?.aborted) this.controller?.abort(error ?? new Error('body abandoned'));
  }

  /** Whether more may be read in this iteration of the event loop. Short responses are not counted, so they never wait. */
  private mayReadOn(bytes: number): boolean {
    this.uncountedBytes += bytes;
    if (this.uncountedBytes < READ_BYTES) return true;
    this.uncountedBytes = 0;
    return this.pacer.mayBegin();
  }

  /** Resumes the connection, unless the reader's buffer is full, the reader has paused, or the pacer makes it wait. */
  private goOn(): void {
    if (this.isFull || this.isPaused || this.waits) return;
    this.controller?.resume();
  }

  /** The signal was aborted. */
  handleEvent(): void {
    const reason = this.reason();
    this.reject(reason);
    this.body?.destroy(reason);
    this.controller?.abort(reason);
  }

  private reason(): Error {
    const reason: unknown = this.signal?.reason;
    return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
  }

  private detach(): void {
    this.signal?.removeEventListener('abort', this);
  }
}

/** The body of a response. While its reader has paused it, the connection is not read. */
class ResponseBody extends Readable {
  constructor(
    private readonly exchange: UpstreamResponseHandler,
    readonly headers: IncomingHttpHeaders,
  ) {
    super({ highWaterMark: BODY_BUFFER_BYTES });
  }

  override _read(): void {
    this.exchange.readOn();
  }

  override pause(): this {
    this.exchange.pause(true);
    return super.pause();
  }

  override resume(): this {
    super.resume();
    this.exchange.pause(false);
    return this;
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.exchange.abandon(error);
    done(error);
  }
}

function tooLate(): Error {
  return Object.assign(new Error('the request may not be sent any more'), { code: TOO_LATE });
}

function announcedOnly(): Error {
  const error = new Error('the answer is announced, but does not come');
  return Object.assign(error, { code: 'ERR_ANNOUNCED_ONLY' });
}

/**
 * Whether the connection stays open after the response. If it does not, the response is read at once: undici 7 ends the
 * process when such a connection closes while it is paused (nodejs/undici#5360).
 */
function staysOpen(headers: IncomingHttpHeaders): boolean {
  const hasEnd =
    headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  return hasEnd && !/\bclose\b/i.test(headers.connection ?? '');
}
