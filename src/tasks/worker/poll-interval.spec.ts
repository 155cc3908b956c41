import { describe, expect, it } from '@jest/globals';
import { pollDelayMs } from './poll-interval.js';
import { DAY_MS } from '../../common/time/spans.js';

const FIRST_MS = 5_000;

describe('pollDelayMs', () => {
  it.each([
    [0, 5_000],
    [100_000, 10_000],
    [300_000, 20_000],
    [500_000, 30_000],
    [DAY_MS, 30_000],
    [-50, 5_000],
  ])('polls a task of age %d ms again after about %d ms', (ageMs, expectedMs) => {
    expect(pollDelayMs(ageMs, FIRST_MS, 0.5)).toBe(expectedMs);
  });

  it('varies the delay by up to a fifth in both directions', () => {
    expect(pollDelayMs(0, FIRST_MS, 0)).toBe(4_000);
    expect(pollDelayMs(0, FIRST_MS, 1)).toBe(6_000);
  });
});
