import type { Readable } from 'node:stream';
import type { Response } from 'express';
import { isFlushed, waitForDrain } from './backpressure.js';
import { setChargeHeader } from './gateway-headers.js';
import type { MicroUsd } from '../../../common/money/micro-usd.js';

/**
 * When all bytes have arrived, they are held back for at most this long, because the response cannot end before the
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
export type AudioFormatName = keyof typeof AUDIO_CONTENT_TYPES;

/** Writes a response whose body is audio. Services see nothing else of the response. */
export class AudioWriter {
  constructor(private readonly response: Response) {}

  /** Keeps the audio, if it is to be; call it once the charge is durable, before the end. */
  async keep(): Promise<void> {
    const { response } = this;
    await response.req.answerCopy?.keep(response, String(response.getHeader('Content-Type')));
  }

  /**
   * Sends the head and all audio bytes as they arrive, but does not end the response. It resolves to the function that
   * does, which has to be called once the charge is durable. When the client disconnects or stalls, the source is still
   * read to its end, because the charge follows the provider's success (decision G-25). Rejects with the source's
   * error.
   */
  stream(source: Readable, format: AudioFormatName, chargeMicroUsd: MicroUsd): Promise<() => void> {
    const { response } = this;
    response.setHeader('Content-Type', AUDIO_CONTENT_TYPES[format]);
    response.setHeader('Cache-Control', 'no-store');
    setChargeHeader(response, chargeMicroUsd);
    const writes = new CorkedWrites(response);
    const copy = response.req.answerCopy;
    let waits = 0;
    const waitFor = (ready: Promise<void>): void => {
      waits += 1;
      source.pause();
      void ready.then(() => {
        waits -= 1;
        if (waits === 0) source.resume();
      });
    };
    return new Promise((resolve, reject) => {
      // Listeners cost a third of an async iterator, and a speech call has only one or two chunks.
      source.on('data', (chunk: Buffer) => {
        const copied = copy?.addAudio(chunk);
        if (copied) waitFor(copied);
        if (response.destroyed) return;
        // A corked response accepts bytes even if the socket is full.
        if (response.socket?.writableNeedDrain) writes.flush();
        else writes.begin();
        if (response.write(chunk)) return;
        writes.flush();
        // No `drain` may follow if the response was full only because it was corked.
        if (isFlushed(response)) return;
        waitFor(waitForDrain(response));
      });
      source.once('end', () => {
        writes.holdUntilEnd();
        resolve(() => {
          writes.end();
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
 * the response ends soon, both go out together: a short clip needs one write instead of two.
 */
class CorkedWrites {
  private flushTimer: NodeJS.Immediate | undefined;
  private endTimer: NodeJS.Timeout | undefined;

  constructor(private readonly response: Response) {}

  begin(): void {
    if (this.flushTimer !== undefined) return;
    this.response.cork();
    this.flushTimer = setImmediate(() => {
      this.flush();
    });
  }

  flush(): void {
    if (this.flushTimer === undefined) return;
    clearImmediate(this.flushTimer);
    this.flushTimer = undefined;
    this.response.uncork();
  }

  holdUntilEnd(): void {
    if (this.flushTimer === undefined) return;
    clearImmediate(this.flushTimer);
    this.endTimer = setTimeout(() => {
      this.flush();
    }, COALESCE_MS);
  }

  /** Ends the response together with the bytes that were not sent yet. */
  end(): void {
    clearTimeout(this.endTimer);
    const { socket } = this.response;
    socket?.cork();
    // Node.js 24 loses bytes of a response that is still corked when it ends.
    this.flush();
    this.response.end();
    socket?.uncork();
  }
}
