import { expect, it } from '@jest/globals';
import { isCleanVerdict, type VendorVerdict } from './vendor-fuzz.js';

it.each([
  ['as many as wanted', {}, true],
  ['fewer than wanted', { histories: 2 }, false],
  ['none of none', { count: 0, histories: 0 }, false],
  ['not of a number', { count: NaN, histories: 0 }, false],
  ['one with a violation', { violations: ['it did not end'] }, false],
])('a verdict on %s is clean: %j, %s', (_what, change, isClean) => {
  const whole: VendorVerdict = {
    vendor: 'v',
    seed: 1,
    count: 3,
    histories: 3,
    ends: { succeeded: 3 },
    violations: [],
  };
  expect(isCleanVerdict({ ...whole, ...change })).toBe(isClean);
});
