import { describe, expect, it } from '@jest/globals';
import { ChunkPool } from './chunk-pool.js';

describe('ChunkPool', () => {
  it('reuses a released buffer as a whole', () => {
    const pool = new ChunkPool();
    const chunk = pool.acquire();
    pool.release(chunk.subarray(0, 10));
    const again = pool.acquire();
    expect(again.buffer).toBe(chunk.buffer);
    expect(again).toHaveLength(chunk.length);
  });

  it('never returns the same buffer to two users, even if it is released twice', () => {
    const pool = new ChunkPool();
    const chunk = pool.acquire();
    pool.release(chunk);
    pool.release(chunk);
    expect(pool.acquire().buffer).not.toBe(pool.acquire().buffer);
  });

  it('ignores a buffer that is not from the pool', () => {
    const pool = new ChunkPool();
    const foreign = Buffer.from('some bytes of a cloud store');
    pool.release(foreign);
    expect(pool.acquire().buffer).not.toBe(foreign.buffer);
  });
});
