import type { Readable } from 'node:stream';

/**
 * The first `sizeBytes` of a stream, which keeps them: fewer only where it has no more. Throws what the stream throws, or an
 * Error where it was closed.
 */
export function peekHead(body: Readable, sizeBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const read = (): void => {
      const head = body.read(sizeBytes) as Buffer | null;
      if (head !== null) {
        // In one piece with what came along with it, so that it also leaves in one.
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
    // One listener for all pieces: each new one would be told of the same bytes at once, without end.
    else body.on('error', failed).on('close', failed).on('end', ended).on('readable', read);
  });
}
