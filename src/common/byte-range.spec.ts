import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readRange } from './byte-range.js';

describe('readRange', () => {
  it.each([
    ['bytes=0-0', 0, 0],
    ['bytes=2-5', 2, 5],
    ['bytes=9-', 9, 9],
    ['bytes=0-', 0, 9],
    ['bytes=4-999999999999999999999', 4, 9],
    ['bytes=-3', 7, 9],
    ['bytes=-10', 0, 9],
    ['bytes=-11', 0, 9],
    ['Bytes=1-1', 1, 1],
  ])('reads %s of ten bytes as %i to %i', (header, first, last) => {
    expect(readRange(header, 10)).toEqual({ first, last });
  });

  it.each(['bytes=10-', 'bytes=10-12', 'bytes=-0', `bytes=${'9'.repeat(400)}-`])(
    'finds %s outside of ten bytes',
    (header) => {
      expect(readRange(header, 10)).toBe('outside');
    },
  );

  it.each([
    undefined,
    '',
    'bytes=-',
    'bytes=5-2',
    'bytes=0-1,3-4',
    'bytes=a-b',
    'bytes=1.5-2',
    'lines=0-1',
    'bytes 0-1',
    '0-1',
  ])('takes %j for the whole file', (header) => {
    expect(readRange(header, 10)).toBe('whole');
  });

  it('returns nothing outside the file for any requested range', () => {
    const place = fc.oneof(fc.nat(20).map(String), fc.constant(''));
    fc.assert(
      fc.property(fc.nat(10), place, place, (size, from, to) => {
        const range = readRange(`bytes=${from}-${to}`, size);
        if (typeof range === 'string') return true;
        return range.first >= 0 && range.first <= range.last && range.last < size;
      }),
    );
  });
});
