import { describe, expect, it } from '@jest/globals';
import { waitSecondsOf } from '../wait.decorator.js';

describe('waitSecondsOf', () => {
  it.each([
    ['wait=1', 1],
    ['wait=60', 60],
    ['Wait=10', 10],
    ['wait="10"', 10],
    ['wait = 10', 10],
    ['respond-async, wait=10', 10],
    ['wait=10; foo=bar, handling=lenient', 10],
    ['wait=5, wait=9', 5],
  ])('reads %s', (prefer, seconds) => {
    expect(waitSecondsOf(prefer)).toBe(seconds);
  });

  it.each([
    undefined,
    '',
    'wait',
    'wait=0',
    'wait=61',
    'wait=-1',
    'wait=1.5',
    'wait=ten',
    'await=5',
    'wait=5=5',
    'wait==5',
  ])('ignores %s (G-98)', (prefer) => {
    expect(waitSecondsOf(prefer)).toBeUndefined();
  });
});
