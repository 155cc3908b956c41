import type { Readable } from 'node:stream';

/**
 * Returns the first `sizeBytes` of a stream, fewer only if it ends before. The bytes stay in the stream. Throws the
 * error of the stream, or an Error if it was closed.
 */
export function peekStream(body: Readable, sizeBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const read = (): void => {
      const head = body.read(sizeBytes) as Buffer | null;
      if (head !== null) {
        // The head and the bytes that arrived with it are put back as one chunk, so that they are sent in one write.
        const rest = body.read() as Buffer | null;
        body.unshift(rest === null ? head : Buffer.concat([head, rest]));
        finish(() => {
          resolve(head);
        });
      }
    };
    const ended = (): void => {
      finish(() => {
        resolve(Buffer.alloc(0));
      });
    };
    const failed = (): void => {
      finish(() => {
        reject(body.errored ?? new Error('the stream was closed'));
      });
    };
    const finish = (settle: () => void): void => {
      body.off('readable', read).off('end', ended).off('error', failed).off('close', failed);
      settle();
    };
    if (body.readableEnded) ended();
    else if (body.destroyed) failed();
    // One listener for all chunks: a new listener would be called for the same bytes at once, in an endless loop.
    else body.on('error', failed).on('close', failed).on('end', ended).on('readable', read);
  });
}
