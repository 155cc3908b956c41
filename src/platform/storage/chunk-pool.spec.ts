import { describe, expect, it } from '@jest/globals';
import { ChunkPool } from './chunk-pool.js';

describe('ChunkPool', () => {
  it('lends memory again that was given back, whole', () => {
    const pool = new ChunkPool();
    const chunk = pool.acquire();
    pool.release(chunk.subarray(0, 10));
    const again = pool.acquire();
    expect(again.buffer).toBe(chunk.buffer);
    expect(again).toHaveLength(chunk.length);
  });

  it('never lends the same memory to two, even when it is given back twice', () => {
    const pool = new ChunkPool();
    const chunk = pool.acquire();
    pool.release(chunk);
    pool.release(chunk);
    expect(pool.acquire().buffer).not.toBe(pool.acquire().buffer);
  });

  it('takes no memory of another origin', () => {
    const pool = new ChunkPool();
    const foreign = Buffer.from('some bytes of a cloud store');
    pool.release(foreign);
    expect(pool.acquire().buffer).not.toBe(foreign.buffer);
  });
});
