import { read } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import type { ByteRange } from '../../common/byte-range.js';
import { FILE_CHUNKS } from './chunk-pool.js';

/**
 * The bytes of an open file, or of a range of it. It closes the file at its end. Its buffers may be returned to the
 * pool.
 */
export class FileReader extends Readable {
  private readonly last: number;
  private at: number;
  private isReading = false;
  /** Set if the stream was destroyed during a read. */
  private afterReading: (() => void) | undefined;

  constructor(
    private readonly file: FileHandle,
    { first, last }: ByteRange = { first: 0, last: Number.MAX_SAFE_INTEGER },
  ) {
    // Nothing is read ahead, because each of a thousand downloads would hold one more buffer.
    super({ highWaterMark: 0 });
    this.at = first;
    this.last = last;
  }

  override _read(): void {
    const lengthBytes = this.last - this.at + 1;
    if (lengthBytes <= 0) {
      this.push(null);
      return;
    }
    const chunk = FILE_CHUNKS.acquire();
    this.isReading = true;
    const wanted = Math.min(chunk.length, lengthBytes);
    read(this.file.fd, chunk, 0, wanted, this.at, (error, readBytes) => {
      this.isReading = false;
      this.afterReading?.();
      if (error) {
        this.destroy(error);
      } else if (readBytes === 0 || this.destroyed) {
        FILE_CHUNKS.release(chunk);
        if (!this.destroyed) this.push(null);
      } else {
        this.at += readBytes;
        this.push(chunk.subarray(0, readBytes));
      }
    });
  }

  /** A file is not closed during a read: its descriptor could belong to another file before the read ends. */
  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const close = (): void => {
      this.file.close().then(
        () => {
          done(error);
        },
        (failure: unknown) => {
          done(error ?? (failure as Error));
        },
      );
    };
    if (this.isReading) this.afterReading = close;
    else close();
  }
}
