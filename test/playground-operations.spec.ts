import { describe, expect, it } from '@jest/globals';
import { PAID_OPERATIONS } from '../console/src/customer/playground/operations.js';
import { endpointsOf, OPERATION_NAMES } from '../src/catalog/operations.js';

describe('the playground', () => {
  const sold = OPERATION_NAMES.flatMap(endpointsOf);

  it('offers every endpoint of every operation that is sold, once', () => {
    const offered = PAID_OPERATIONS.map(({ type, path }) => `${type} ${path}`);
    const all = sold.map(({ endpointType, path }) => `${endpointType} ${path}`);
    expect(offered.toSorted()).toEqual(all.toSorted());
  });

  it('gives each of them a name of its own', () => {
    const names = new Set(PAID_OPERATIONS.map(({ name }) => name));
    expect(names.size).toBe(sold.length);
  });
});
