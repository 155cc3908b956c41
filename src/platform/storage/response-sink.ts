import { Writable } from 'node:stream';
import type { Response } from 'express';
import { FILE_CHUNKS } from './chunk-pool.js';

/**
 * Writes a stored file to the response: writes a buffer once the previous one has left the process, and returns each
 * buffer to the pool. A client that reads nothing for `stallMs` is disconnected. A file longer than the announced
 * `lengthBytes` is an error. The source must stop when the response closes. A thousand downloads write 20,000 buffers a
 * second. Objects that are created per buffer and refer to those of the next one, like promises in a loop, survive the
 * young generation of the heap; so nothing is created per buffer but its write.
 */
export class ResponseSink extends Writable {
  /** Bytes that were written. */
  sentBytes = 0;
  private piece: Buffer | undefined;
  private done: (() => void) | undefined;
  private readonly stall: NodeJS.Timeout;
  private readonly onWritten = (error?: Error | null): void => {
    const piece = this.piece;
    this.piece = undefined;
    if (piece) FILE_CHUNKS.release(piece);
    // After an error the response closes, which ends the file and this stream.
    if (!error) this.done?.();
  };

  constructor(
    private readonly response: Response,
    private readonly lengthBytes: number,
    stallMs: number,
  ) {
    super({ highWaterMark: 0, decodeStrings: false });
    this.stall = setTimeout(() => {
      if (this.piece) response.destroy();
    }, stallMs);
  }

  override _write(piece: Buffer, _encoding: string, done: () => void): void {
    // Bytes after the announced length would be the beginning of the next response.
    if (this.sentBytes + piece.length > this.lengthBytes) {
      this.destroy(new Error(`it has more than ${this.lengthBytes} bytes`));
      return;
    }
    this.sentBytes += piece.length;
    this.piece = piece;
    this.done = done;
    this.stall.refresh();
    this.response.write(piece, this.onWritten);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.stall);
    done(error);
  }
}
