import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { peekStream } from './peek-stream.js';

const HEAD_BYTES = 512;
const BYTES = Buffer.from('0123456789'.repeat(1_000));

describe('the head of a stream', () => {
  it.each([1, 100, 512, 10_000])(
    'is returned for chunks of %i bytes, and stays in the stream',
    async (size) => {
      const pieces = [];
      for (let at = 0; at < BYTES.length; at += size) pieces.push(BYTES.subarray(at, at + size));
      const body = Readable.from(pieces, { objectMode: false });
      expect((await peekStream(body, HEAD_BYTES)).equals(BYTES.subarray(0, 512))).toBe(true);
      expect((await buffer(body)).equals(BYTES)).toBe(true);
    },
  );

  it('stays in one chunk with the bytes that arrived with it', async () => {
    const body = Readable.from([BYTES.subarray(0, 2_000), BYTES.subarray(2_000)], {
      objectMode: false,
    });
    await peekStream(body, HEAD_BYTES);
    expect((body.read() as Buffer).length).toBeGreaterThanOrEqual(2_000);
  });

  it.each([0, 1, 511])('of a stream of %i bytes is the whole stream', async (size) => {
    const body = new PassThrough();
    const head = peekStream(body, HEAD_BYTES);
    body.end(BYTES.subarray(0, size));
    expect((await head).length).toBe(size);
    expect((await buffer(body)).length).toBe(size);
  });

  it('of a stream that breaks rejects with its error', async () => {
    const body = new PassThrough().on('error', () => undefined);
    const head = peekStream(body, HEAD_BYTES);
    body.write('abc');
    setImmediate(() => body.destroy(new Error('cut')));
    await expect(head).rejects.toThrow('cut');
    await expect(peekStream(body, HEAD_BYTES)).rejects.toThrow('cut');
  });

  it('of a closed stream rejects', async () => {
    const body = new PassThrough();
    const head = peekStream(body, HEAD_BYTES);
    setImmediate(() => body.destroy());
    await expect(head).rejects.toThrow('closed');
  });
});
