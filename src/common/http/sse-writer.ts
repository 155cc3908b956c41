import { once } from 'node:events';
import type { Response } from 'express';
import { STALL_MS, writableAgain } from './reader-pace.js';

/** Silence after which a comment keeps the connection from looking dead. */
const PING_MS = 15_000;

/** Waits of an event stream, in milliseconds. */
export interface SseWaits {
  readonly pingMs: number;
  readonly stallMs: number;
}

/**
 * Writes server-sent events: each at once, in one piece, at the reader's pace. The head goes out with the first event,
 * so that until then the answer can still be an ordinary error. A reader that stalls is cut off and counts as gone.
 */
export class SseWriter {
  private ping: NodeJS.Timeout | undefined;

  constructor(
    private readonly response: Response,
    private readonly waits: SseWaits = { pingMs: PING_MS, stallMs: STALL_MS },
  ) {
    response.once('close', () => {
      clearInterval(this.ping);
    });
  }

  /** Whether the reader has left or was cut off. */
  get isGone(): boolean {
    return this.response.destroyed;
  }

  /** Whether the head has been sent: a failure can no longer be an ordinary error. */
  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  /** Calls back once when the reader leaves or is cut off before the end; at once when it has left already. */
  onGone(listener: () => void): void {
    const { response } = this;
    const tell = (): void => {
      if (!response.writableFinished) listener();
    };
    if (response.destroyed) tell();
    else response.once('close', tell);
  }

  /** Sends one event. The promise is there when the reader has to catch up first; it never rejects. */
  send(data: string): Promise<void> | undefined {
    if (this.isGone) return undefined;
    if (this.ping === undefined) this.begin();
    this.ping?.refresh();
    return this.response.write(`data: ${data}\n\n`)
      ? undefined
      : writableAgain(this.response, this.waits.stallMs);
  }

  /** Sends a last event and ends the answer; resolves when all of it is out or the reader is gone. */
  async end(data: string): Promise<void> {
    await this.send(data);
    clearInterval(this.ping);
    if (this.isGone) return;
    const closed = once(this.response, 'close');
    const stall = this.cutAfterStall();
    this.response.end();
    await closed;
    clearTimeout(stall);
  }

  private begin(): void {
    this.response.setHeader('Content-Type', 'text/event-stream');
    this.response.setHeader('Cache-Control', 'no-cache, no-transform');
    // Proxies of the nginx family would otherwise collect the whole answer first.
    this.response.setHeader('X-Accel-Buffering', 'no');
    this.ping = setInterval(() => {
      if (!this.isGone && !this.response.writableNeedDrain) this.response.write(': ping\n\n');
    }, this.waits.pingMs);
  }

  private cutAfterStall(): NodeJS.Timeout {
    return setTimeout(() => this.response.destroy(), this.waits.stallMs);
  }
}
