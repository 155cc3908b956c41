import { once } from 'node:events';
import type { Response } from 'express';
import type { AnswerCopy } from './answer-copy.js';
import {
  abortResponse,
  onClientDisconnect,
  STALL_MS,
  isFlushed,
  waitForDrain,
} from './backpressure.js';

/** After this silence a comment is sent, so that the connection does not seem dead. */
const PING_MS = 15_000;
/**
 * The same before the first event: proxies and clients give up sooner on a response that has not begun (decision G-93).
 */
const FIRST_PING_MS = 5_000;

/** Node keeps three bytes for each character of a longer text until it is sent. */
const LARGE_EVENT_CHARS = 16_384;

/** Limits of an event stream. */
export interface SseLimits {
  readonly pingMs: number;
  readonly firstPingMs: number;
  readonly stallMs: number;
}
const EVENT_STREAM = 'text/event-stream';
const COMMENT = ': ping\n\n';
const LIMITS: SseLimits = { pingMs: PING_MS, firstPingMs: FIRST_PING_MS, stallMs: STALL_MS };

/**
 * Writes server-sent events: each at once, in one piece, as fast as the client reads. The head is sent with the first
 * event, or with a first comment 5 s after {@link wait}; before that, an ordinary error can be sent. A client that
 * stalls is disconnected.
 */
export class SseWriter {
  private ping: NodeJS.Timeout | undefined;
  private hasSent = false;
  private isWatched = false;
  private isOpen = false;
  private readonly copy: AnswerCopy | undefined;

  constructor(
    private readonly response: Response,
    private readonly limits: SseLimits = LIMITS,
    /** After the first event: what is written in a silence, whole and with its line breaks. */
    private readonly heartbeat: () => string = () => COMMENT,
  ) {
    this.copy = response.req.answerCopy;
  }

  /**
   * Whether the client has disconnected or was disconnected, and nothing is kept for it: an answer that is kept is made to its end.
   */
  get isGone(): boolean {
    return this.response.destroyed && this.copy?.isOpen !== true;
  }

  /** Whether the client has disconnected or was disconnected, also where its answer is made to its end. */
  get isClientGone(): boolean {
    return this.response.destroyed;
  }

  /** Whether the head was sent. From then on a failure cannot be an ordinary error. */
  get hasBegun(): boolean {
    return this.isOpen;
  }

  /**
   * Calls back once when the client disconnects before the end, or at once if that has happened already. Where the answer is kept,
   * not until that ends.
   */
  onGone(listener: () => void): void {
    onClientDisconnect(this.response, () => {
      if (this.copy?.isOpen) this.copy.onDrop = listener;
      else listener();
    });
  }

  /** Sends a comment at least every 5 s until the first event, {@link end} or {@link drop}. */
  wait(): void {
    if (this.response.destroyed || this.ping !== undefined) return;
    this.watch();
    this.pingEvery(this.limits.firstPingMs);
  }

  /** Stops writing: another response is sent, or none. */
  drop(): void {
    clearTimeout(this.ping);
  }

  /**
   * Sends one event, with its name and its id if it has them. It returns a promise if the caller has to wait for the client; the
   * promise never rejects.
   */
  send(data: string, name?: string, id?: string): Promise<void> | undefined {
    if (this.isGone) return undefined;
    const event = eventOf(data, name, id);
    this.copy?.add(event);
    return this.write(event);
  }

  private write(event: string): Promise<void> | undefined {
    const { response } = this;
    if (response.destroyed) return undefined;
    if (this.hasSent) this.ping?.refresh();
    else this.beginEvents();
    const mayWriteMore = response.write(
      event.length < LARGE_EVENT_CHARS ? event : Buffer.from(event),
    );
    return mayWriteMore || isFlushed(response)
      ? undefined
      : waitForDrain(response, this.limits.stallMs);
  }

  /**
   * Sends a last event, if there is one, and ends the response. Before that the answer is kept, if it is to be. Resolves when all of
   * it was sent or the client has disconnected.
   */
  async end(data?: string): Promise<void> {
    const last = data === undefined ? undefined : eventOf(data);
    if (this.copy) {
      if (last !== undefined) this.copy.add(last);
      await this.copy.keep(this.response, EVENT_STREAM);
    }
    if (last !== undefined) await this.write(last);
    this.drop();
    if (this.response.destroyed) return;
    const closed = once(this.response, 'close');
    const stall = this.cutAfterStall();
    this.response.end();
    await closed;
    clearTimeout(stall);
  }

  /** Closes the connection, so that the response never looks complete. */
  cut(): void {
    this.copy?.drop();
    if (!this.response.destroyed) abortResponse(this.response);
  }

  private beginEvents(): void {
    this.hasSent = true;
    this.watch();
    if (!this.isOpen) this.begin();
    this.drop();
    this.pingEvery(this.limits.pingMs);
  }

  private watch(): void {
    if (this.isWatched) return;
    this.isWatched = true;
    this.response.on('close', () => {
      this.drop();
    });
  }

  private pingEvery(ms: number): void {
    this.ping = setTimeout(() => {
      if (this.response.destroyed) return;
      if (!this.isOpen) this.begin();
      if (!this.response.writableNeedDrain) {
        this.response.write(this.hasSent ? this.heartbeat() : COMMENT);
      }
      this.ping?.refresh();
    }, ms);
  }

  private begin(): void {
    this.response.setHeader('Content-Type', EVENT_STREAM);
    this.response.setHeader('Cache-Control', 'no-cache, no-transform');
    // Without this header, proxies such as nginx would collect the whole response first.
    this.response.setHeader('X-Accel-Buffering', 'no');
    this.isOpen = true;
    this.sendHead();
  }

  /**
   * Sends the head in one packet with the first event, but as a separate write: the head stays in memory until the
   * response has ended, and joined with the event it would stay in fifty pieces, which is 2 kB.
   */
  private sendHead(): void {
    const { socket } = this.response;
    socket?.cork();
    this.response.flushHeaders();
    process.nextTick(() => socket?.uncork());
  }

  private cutAfterStall(): NodeJS.Timeout {
    return setTimeout(() => this.response.destroy(), this.limits.stallMs);
  }
}

function eventOf(data: string, name?: string, id?: string): string {
  const head = `${id === undefined ? '' : `id: ${id}\n`}${name === undefined ? '' : `event: ${name}\n`}`;
  return `${head}data: ${data}\n\n`;
}
