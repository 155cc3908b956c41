import type { Readable } from 'node:stream';
import type { Response } from 'express';
import { writableAgain } from './reader-pace.js';
import { tellCharge } from './charged-answer.js';
import type { MicroUsd } from '../money/micro-usd.js';

/** Bytes that are all there wait no longer than this for the settlement, without which the answer cannot end anyway. */
const COALESCE_MS = 30;

/** Content type of each `response_format` (spec: Output formats). */
export const AUDIO_CONTENT_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  pcm: 'audio/pcm',
  wav: 'audio/wav',
} as const;

/** A word of `response_format`. */
export type ResponseFormat = keyof typeof AUDIO_CONTENT_TYPES;

/** The body of an answer that is audio: all that a service sees of the response. */
export class AudioWriter {
  constructor(private readonly response: Response) {}

  /**
   * Sends the head and all audio bytes as they come, but does not end the answer: the function it resolves to does, to be
   * called once the charge is durable. When the client leaves or stalls, the source is read to its end all the same,
   * because the charge follows the provider's success (decision G-25). Rejects with the source's error.
   */
  stream(source: Readable, format: ResponseFormat, chargeMicroUsd: MicroUsd): Promise<() => void> {
    const { response } = this;
    response.setHeader('Content-Type', AUDIO_CONTENT_TYPES[format]);
    response.setHeader('Cache-Control', 'no-store');
    tellCharge(response, chargeMicroUsd);
    const turn = new CorkedTurn(response);
    return new Promise((resolve, reject) => {
      // Listeners cost a third of an async iterator; a speech call has one or two chunks.
      source.on('data', (chunk: Buffer) => {
        if (response.destroyed) return;
        turn.begin();
        if (response.write(chunk)) return;
        turn.flush();
        source.pause();
        void writableAgain(response).then(() => source.resume());
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
 * Sends what one turn of the event loop writes as one packet. A source that ends within the turn leaves it to the
 * answer's end if that comes soon: a short clip then goes out whole, in one write instead of two.
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
      this.response.uncork();
    }, COALESCE_MS);
  }

  /** Ends the answer, with whatever the turn still holds. */
  end(): void {
    clearTimeout(this.patience);
    this.response.end();
  }
}
