import type { Readable } from 'node:stream';

/** Enough for every format the gateway knows. */
const HEAD_BYTES = 512;

/**
 * The first bytes of a stream, which keeps them: fewer than 512 only where it has no more. Throws what the stream throws, or an
 * Error where it was closed.
 */
export async function peekHead(body: Readable): Promise<Buffer> {
  for (;;) {
    const head = body.read(HEAD_BYTES) as Buffer | null;
    if (head !== null) {
      body.unshift(head);
      return head;
    }
    if (body.readableEnded) return Buffer.alloc(0);
    if (body.destroyed) throw body.errored ?? new Error('the stream was closed');
    await nextEvent(body);
  }
}

/** Until there may be more to read, or nothing more. */
function nextEvent(body: Readable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of EVENTS) body.off(name, done);
      resolve();
    };
    for (const name of EVENTS) body.once(name, done);
  });
}

const EVENTS = ['readable', 'end', 'error', 'close'] as const;
