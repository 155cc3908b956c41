import { describe, expect, it } from '@jest/globals';
import { Quota } from './quota.js';

const quantity = () => new Quota({ total: 10, perHolder: 6, what: 'cakes' });

describe('Quota', () => {
  it('gives a holder its part and no more (429), whoever else holds', () => {
    const cakes = quantity();
    expect(cakes.acquire('a', 6)).toBeUndefined();
    expect(cakes.acquire('a', 1)).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(cakes.acquire('b', 4)).toBeUndefined();
    expect(cakes.inUse).toBe(10);
  });

  it('gives all of it away and no more (503)', () => {
    const cakes = quantity();
    cakes.acquire('a', 6);
    expect(cakes.acquire('b', 5)).toMatchObject({ code: 'service_unavailable' });
    expect(cakes.check('b', 4)).toBeUndefined();
  });

  it('has what was given back', () => {
    const cakes = quantity();
    cakes.acquire('a', 6);
    cakes.release('a', 6);
    expect(cakes.inUse).toBe(0);
    expect(cakes.acquire('a', 6)).toBeUndefined();
  });
});
