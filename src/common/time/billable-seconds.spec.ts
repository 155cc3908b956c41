import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { billableSeconds, samplesToMicros } from './billable-seconds.js';

describe('billableSeconds', () => {
  it.each([
    [12_340_000n, 13n],
    [61_200_000n, 62n],
    [12_000_000n, 12n],
    [12_050_000n, 12n],
    [12_100_000n, 12n],
    [12_100_010n, 13n],
    [12_110_000n, 13n],
    [12_990_000n, 13n],
    [50_000n, 1n],
    [100_000n, 1n],
    [500_000n, 1n],
    [1_000_000n, 1n],
    [1_100_000n, 1n],
    [1_100_010n, 2n],
    [2_100_000n, 2n],
    [16_100_000n, 16n],
    [4_600_000n, 5n],
    [600_000_000n, 600n],
    [1_800_000_000n, 1_800n],
  ])('bills %s µs as %s s', (micros, seconds) => {
    expect(billableSeconds(micros)).toBe(seconds);
  });

  it('is the smallest whole number within 0.1 s of the duration, at least 1', () => {
    fc.assert(
      fc.property(fc.bigInt(1n, 10n ** 11n), (micros) => {
        const seconds = billableSeconds(micros);
        expect(seconds >= 1n && seconds * 1_000_000n + 100_000n >= micros).toBe(true);
        expect(seconds === 1n || (seconds - 1n) * 1_000_000n + 100_000n < micros).toBe(true);
      }),
    );
  });
});

describe('samplesToMicros', () => {
  it('keeps one sample above a boundary above it (AUD-41, G-18)', () => {
    expect(billableSeconds(samplesToMicros(533_610n, 44_100n))).toBe(12n);
    expect(billableSeconds(samplesToMicros(533_611n, 44_100n))).toBe(13n);
  });
});
