import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ByteAccumulator, ChunkCount } from './byte-accumulator.js';

const added = (bytes: ByteAccumulator, chunks: readonly Uint8Array[]): Buffer => {
  for (const chunk of chunks) bytes.add(Buffer.from(chunk));
  return bytes.whole();
};

describe('ByteAccumulator', () => {
  it('are the chunks in their order, whatever their sizes', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 60 });
    fc.assert(
      fc.property(chunks, fc.integer({ min: 0, max: 20_000 }), (all, limitBytes) => {
        expect(added(new ByteAccumulator(limitBytes), all)).toEqual(Buffer.concat(all));
      }),
    );
  });

  it('are not copied where they came in one piece', () => {
    const chunk = Buffer.from('{}');
    const bytes = new ByteAccumulator(10);
    bytes.add(chunk);
    expect(bytes.whole().buffer).toBe(chunk.buffer);
  });

  it('take no more memory than twice their size, and no more than they may become', () => {
    const bytes = new ByteAccumulator(1_000_000);
    for (let count = 0; count < 600_000; count++) bytes.add(Buffer.from([1]));
    expect(bytes.whole()).toHaveLength(600_000);
    expect(bytes.whole().buffer.byteLength).toBeLessThanOrEqual(1_000_000);
  });
});

describe('ChunkCount', () => {
  const accepted = (chunkBytes: number, upTo: number): number => {
    const count = new ChunkCount();
    let chunks = 0;
    while (chunks < upTo && count.add(chunkBytes)) chunks += 1;
    return chunks;
  };

  it('refuses more than 10,000 chunks of less than 32 bytes on average', () => {
    expect([1, 31, 32, 1_000].map((bytes) => accepted(bytes, 50_000))).toEqual([
      10_000, 10_000, 50_000, 50_000,
    ]);
  });
});
