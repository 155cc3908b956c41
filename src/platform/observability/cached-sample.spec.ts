import { describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../common/time/clock.js';
import { CachedSample } from './cached-sample.js';

class HandMovedClock extends SystemClock {
  ms = 1_000_000;

  override nowMs(): number {
    return this.ms;
  }
}

function sampled(answers: readonly (number | Error)[]) {
  const clock = new HandMovedClock();
  let asked = 0;
  const sample = new CachedSample(clock, () => {
    const answer = answers[asked++];
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  });
  return { clock, sample, asked: () => asked };
}

describe('CachedSample', () => {
  it('queries once in 10 s, however often it is read, one after the other or at once', async () => {
    const { clock, sample, asked } = sampled([1, 2]);
    expect(await Promise.all([sample.read(), sample.read()])).toEqual([1, 1]);
    clock.ms += 9_999;
    expect(await sample.read()).toBe(1);
    expect(asked()).toBe(1);
    clock.ms += 1;
    expect(await sample.read()).toBe(2);
  });

  it('returns undefined during a database outage, and does not query more often', async () => {
    const { clock, sample, asked } = sampled([new Error('gone'), 2]);
    expect([await sample.read(), await sample.read()]).toEqual([undefined, undefined]);
    expect(asked()).toBe(1);
    clock.ms += 10_000;
    expect(await sample.read()).toBe(2);
  });
});
