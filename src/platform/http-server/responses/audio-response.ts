import type { Readable } from 'node:stream';
import type { Response } from 'express';
import { isFlushed, waitForDrain } from './backpressure.js';
import { setChargeHeader } from './charge-header.js';
import type { MicroUsd } from '../../../common/money/micro-usd.js';

/**
 * When all bytes have arrived, their sending is delayed by at most this, because the answer cannot end before the
 * settlement anyway.
 */
const COALESCE_MS = 30;

/** Content type of each `response_format` (API: Output formats). */
export const AUDIO_CONTENT_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  pcm: 'audio/pcm',
  wav: 'audio/wav',
} as const;

/** A value of `response_format`. */
export type ResponseFormat = keyof typeof AUDIO_CONTENT_TYPES;

/** The body of an answer that is audio. Services see nothing else of the response. */
export class AudioWriter {
  constructor(private readonly response: Response) {}

  /**
   * Sends the head and all audio bytes as they arrive, but does not end the answer. It resolves to the function that
   * does, which has to be called once the charge is durable. When the client leaves or stalls, the source is still read
   * to its end, because the charge follows the provider's success (decision G-25). Rejects with the source's error.
   */
  stream(source: Readable, format: ResponseFormat, chargeMicroUsd: MicroUsd): Promise<() => void> {
    const { response } = this;
    response.setHeader('Content-Type', AUDIO_CONTENT_TYPES[format]);
    response.setHeader('Cache-Control', 'no-store');
    setChargeHeader(response, chargeMicroUsd);
    const turn = new CorkedTurn(response);
    return new Promise((resolve, reject) => {
      // Listeners cost a third of an async iterator, and a speech call has only one or two chunks.
      source.on('data', (chunk: Buffer) => {
        if (response.destroyed) return;
        // A corked answer takes bytes even if the socket is full.
        if (response.socket?.writableNeedDrain) turn.flush();
        else turn.begin();
        if (response.write(chunk)) return;
        turn.flush();
        // No `drain` may follow when the answer had too many bytes only because it was corked.
        if (isFlushed(response)) return;
        source.pause();
        void waitForDrain(response).then(() => source.resume());
      });
      source.once('end', () => {
        turn.leaveToEnd();
        resolve(() => {
          turn.end();
        });
      });
      source.once('error', reject);
      const closed = (): void => {
        if (!source.readableEnded) reject(source.errored ?? new Error('the audio broke off'));
      };
      if (source.closed) closed();
      else source.once('close', closed);
    });
  }
}

/**
 * Sends everything that is written in one turn of the event loop as one packet. If the source ends within the turn and
 * the answer ends soon, both go out together: a short clip needs one write instead of two.
 */
class CorkedTurn {
  private turn: NodeJS.Immediate | undefined;
  private patience: NodeJS.Timeout | undefined;

  constructor(private readonly response: Response) {}

  begin(): void {
    if (this.turn !== undefined) return;
    this.response.cork();
    this.turn = setImmediate(() => {
      this.flush();
    });
  }

  flush(): void {
    if (this.turn === undefined) return;
    clearImmediate(this.turn);
    this.turn = undefined;
    this.response.uncork();
  }

  leaveToEnd(): void {
    if (this.turn === undefined) return;
    clearImmediate(this.turn);
    this.patience = setTimeout(() => {
      this.flush();
    }, COALESCE_MS);
  }

  /** Ends the answer together with the bytes that were not sent yet. */
  end(): void {
    clearTimeout(this.patience);
    const { socket } = this.response;
    socket?.cork();
    // Node.js 24 loses bytes of an answer that is still corked when it ends.
    this.flush();
    this.response.end();
    socket?.uncork();
  }
}
