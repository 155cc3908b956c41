import { describe, expect, it } from '@jest/globals';
import { SharedQuantity } from './shared-quantity.js';

const quantity = () => new SharedQuantity({ total: 10, perHolder: 6, what: 'cakes' });

describe('SharedQuantity', () => {
  it('gives a holder its part and no more (429), whoever else holds', () => {
    const cakes = quantity();
    expect(cakes.take('a', 6)).toBeUndefined();
    expect(cakes.take('a', 1)).toMatchObject({ code: 'rate_limit_exceeded' });
    expect(cakes.take('b', 4)).toBeUndefined();
    expect(cakes.inUse).toBe(10);
  });

  it('gives all of it away and no more (503)', () => {
    const cakes = quantity();
    cakes.take('a', 6);
    expect(cakes.take('b', 5)).toMatchObject({ code: 'service_unavailable' });
    expect(cakes.refusal('b', 4)).toBeUndefined();
  });

  it('has what was given back', () => {
    const cakes = quantity();
    cakes.take('a', 6);
    cakes.give('a', 6);
    expect(cakes.inUse).toBe(0);
    expect(cakes.take('a', 6)).toBeUndefined();
  });
});
