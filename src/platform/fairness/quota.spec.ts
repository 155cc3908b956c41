import { describe, expect, it } from '@jest/globals';
import { Quota } from './quota.js';

const quantity = () => new Quota({ total: 10, perBucket: 6, what: 'cakes' });

describe('Quota', () => {
  it('limits each bucket to its own maximum (429), whatever other buckets use', () => {
    const cakes = quantity();
    expect(cakes.acquire('a', 6)).toBeUndefined();
    expect(cakes.acquire('a', 1)).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(cakes.acquire('b', 4)).toBeUndefined();
    expect(cakes.inUse).toBe(10);
  });

  it('limits all buckets to the total (503)', () => {
    const cakes = quantity();
    cakes.acquire('a', 6);
    expect(cakes.acquire('b', 5)).toMatchObject({ code: 'service_unavailable' });
    expect(cakes.check('b', 4)).toBeUndefined();
  });

  it('can acquire again what was released', () => {
    const cakes = quantity();
    cakes.acquire('a', 6);
    cakes.release('a', 6);
    expect(cakes.inUse).toBe(0);
    expect(cakes.acquire('a', 6)).toBeUndefined();
  });
});
