import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ceilDiv, formatMicroUsd, MAX_MICRO_USD, multiply, parseMicroUsd } from './micro-usd.js';

const amounts = fc.bigInt(-MAX_MICRO_USD, MAX_MICRO_USD);

describe('micro-USD amounts', () => {
  it('are parsed from their wire form', () => {
    fc.assert(
      fc.property(amounts, (amount) => {
        expect(parseMicroUsd(formatMicroUsd(amount))).toBe(amount);
      }),
    );
  });

  it.each([
    '',
    '-',
    '1.5',
    '1e3',
    '+1',
    ' 1',
    '1 ',
    '0x1',
    '1_000',
    '١',
    '10000000000000000',
    '1000000000000001',
  ])('are not parsed from %p', (text) => {
    expect(parseMicroUsd(text)).toBeUndefined();
  });

  it('multiply exactly where doubles would not', () => {
    expect(multiply(120n, 40_000)).toBe(4_800_000n);
    expect(multiply(92n, 7_200n)).toBe(662_400n);
  });

  it.each([0.5, -1, NaN, Infinity])('reject %p units', (units) => {
    expect(() => multiply(120n, units)).toThrow();
  });

  it('are rounded up when divided', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 18n), fc.bigInt(1n, 10n ** 9n), (dividend, divisor) => {
        const quotient = ceilDiv(dividend, divisor);
        expect(quotient * divisor >= dividend).toBe(true);
        expect((quotient - 1n) * divisor < dividend).toBe(true);
      }),
    );
  });
});
