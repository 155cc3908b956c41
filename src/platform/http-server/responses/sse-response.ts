import { once } from 'node:events';
import type { Response } from 'express';
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

  constructor(
    private readonly response: Response,
    private readonly limits: SseLimits = LIMITS,
    /** After the first event: what is written in a silence, whole and with its line breaks. */
    private readonly heartbeat: () => string = () => COMMENT,
  ) {}

  /** Whether the client has disconnected or was disconnected. */
  get isGone(): boolean {
    return this.response.destroyed;
  }

  /** Whether the head was sent. From then on a failure cannot be an ordinary error. */
  get hasBegun(): boolean {
    return this.isOpen;
  }

  /** Calls back once when the client disconnects before the end, or at once if that has happened already. */
  onGone(listener: () => void): void {
    onClientDisconnect(this.response, listener);
  }

  /** Sends a comment at least every 5 s until the first event, {@link end} or {@link drop}. */
  wait(): void {
    if (this.isGone || this.ping !== undefined) return;
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
    if (this.hasSent) this.ping?.refresh();
    else this.beginEvents();
    const head = `${id === undefined ? '' : `id: ${id}\n`}${name === undefined ? '' : `event: ${name}\n`}`;
    const event = `${head}data: ${data}\n\n`;
    const { response } = this;
    const mayWriteMore = response.write(
      data.length < LARGE_EVENT_CHARS ? event : Buffer.from(event),
    );
    return mayWriteMore || isFlushed(response)
      ? undefined
      : waitForDrain(response, this.limits.stallMs);
  }

  /**
   * Sends a last event, if there is one, and ends the response. Resolves when all of it was sent or the client has
   * disconnected.
   */
  async end(data?: string): Promise<void> {
    if (data !== undefined) await this.send(data);
    this.drop();
    if (this.isGone) return;
    const closed = once(this.response, 'close');
    const stall = this.cutAfterStall();
    this.response.end();
    await closed;
    clearTimeout(stall);
  }

  /** Closes the connection, so that the response never looks complete. */
  cut(): void {
    if (!this.isGone) abortResponse(this.response);
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
      if (this.isGone) return;
      if (!this.isOpen) this.begin();
      if (!this.response.writableNeedDrain) {
        this.response.write(this.hasSent ? this.heartbeat() : COMMENT);
      }
      this.ping?.refresh();
    }, ms);
  }

  private begin(): void {
    this.response.setHeader('Content-Type', 'text/event-stream');
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
