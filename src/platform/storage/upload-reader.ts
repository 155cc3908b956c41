import type { Readable } from 'node:stream';
import { FileTooLargeError, type NewFile } from './stored-file.js';

/** Maximum time for writing a file. */
export const WRITE_DEADLINE_MS = 1_800_000;

/**
 * The bytes of a new file while they are written to the store. They are counted, their number and time are limited, and
 * the caller's signal aborts them. If the write failed, `failure` distinguishes an error of the source from one of the
 * store. Always call `close`.
 */
export class UploadReader {
  sizeBytes = 0;
  /** The error that ended the source; undefined if only the store can have failed. */
  failure: Error | undefined;
  private readonly stopping = new AbortController();
  private readonly body: Readable;
  private readonly maxBytes: number;
  private readonly stopSignal: AbortSignal | undefined;
  private readonly deadline: NodeJS.Timeout;

  constructor({ body, maxBytes, signal }: Pick<NewFile, 'body' | 'maxBytes' | 'signal'>) {
    this.body = body;
    this.maxBytes = maxBytes;
    this.stopSignal = signal;
    // Listens from the beginning, because the source may fail while the row is written.
    body.on('error', (error) => {
      this.fail(error);
    });
    this.deadline = setTimeout(() => {
      this.fail(new Error('the file took too long to write'));
    }, WRITE_DEADLINE_MS).unref();
    if (signal?.aborted) this.stop();
    else signal?.addEventListener('abort', this.stop, { once: true });
  }

  /** Aborts when the source fails for any reason. */
  get signal(): AbortSignal {
    return this.stopping.signal;
  }

  async *chunks(): AsyncGenerator<Buffer, void> {
    // A failure of the store must not look like an aborted source.
    for await (const chunk of this.body.iterator({ destroyOnReturn: false })) {
      this.sizeBytes += (chunk as Buffer).length;
      if (this.sizeBytes > this.maxBytes) this.fail(new FileTooLargeError(this.maxBytes));
      if (this.failure) throw this.failure;
      yield chunk as Buffer;
    }
  }

  close(): void {
    clearTimeout(this.deadline);
    this.stopSignal?.removeEventListener('abort', this.stop);
    this.body.destroy();
  }

  private readonly stop = (): void => {
    const reason: unknown = this.stopSignal?.reason;
    this.fail(reason instanceof Error ? reason : new Error('the writing was stopped'));
  };

  private fail(error: Error): void {
    if (this.failure) return;
    this.failure = error;
    this.stopping.abort(error);
    this.body.destroy();
  }
}
