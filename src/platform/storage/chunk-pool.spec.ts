import { describe, expect, it } from '@jest/globals';
import { ChunkPool } from './chunk-pool.js';

describe('ChunkPool', () => {
  it('lends memory again that was given back, whole', () => {
    const pool = new ChunkPool();
    const chunk = pool.take();
    pool.giveBack(chunk.subarray(0, 10));
    const again = pool.take();
    expect(again.buffer).toBe(chunk.buffer);
    expect(again).toHaveLength(chunk.length);
  });

  it('never lends the same memory to two, even when it is given back twice', () => {
    const pool = new ChunkPool();
    const chunk = pool.take();
    pool.giveBack(chunk);
    pool.giveBack(chunk);
    expect(pool.take().buffer).not.toBe(pool.take().buffer);
  });

  it('takes no memory of another origin', () => {
    const pool = new ChunkPool();
    const foreign = Buffer.from('some bytes of a cloud store');
    pool.giveBack(foreign);
    expect(pool.take().buffer).not.toBe(foreign.buffer);
  });
});
