import { describe, expect, it } from '@jest/globals';
import { ProviderError } from '../http/provider-error.js';
import { KeyRests } from './key-rests.js';

const refusal = (kind: 'rate_limited' | 'account' | 'http_error', retryAfterSeconds?: number) =>
  new ProviderError(kind, { provider: 'p', sent: true, retryAfterSeconds });

describe('keys of a provider', () => {
  const [a, b, c] = [{ key: 'a' }, { key: 'b' }, { key: 'c' }];
  const restsAt = (clock: { ms: number }) =>
    new KeyRests({ nowMs: () => clock.ms, nowSeconds: () => Math.floor(clock.ms / 1_000) });

  it.each([
    [refusal('rate_limited'), 5_000],
    [refusal('rate_limited', 20), 20_000],
    [refusal('rate_limited', 86_400), 60_000],
    [refusal('account'), 60_000],
  ])('come last for a time after their refusal: %s, %i ms', (error, restMs) => {
    const clock = { ms: 1_000_000 };
    const rests = restsAt(clock);
    expect(rests.refused(a, error)).toBe(true);
    expect(rests.restingLast([a, b, c])).toEqual([b, c, a]);
    clock.ms += restMs - 1;
    expect(rests.restingLast([a, b, c])).toEqual([b, c, a]);
    clock.ms += 1;
    expect(rests.restingLast([a, b, c])).toEqual([a, b, c]);
  });

  it('are tried by one call after their rest, and by all once they are accepted', () => {
    const clock = { ms: 0 };
    const rests = restsAt(clock);
    rests.refused(a, refusal('account'));
    clock.ms = 60_000;
    expect(rests.restingLast([a, b])).toEqual([a, b]);
    expect(rests.restingLast([a, b])).toEqual([b, a]);
    rests.accepted(a);
    expect(rests.restingLast([a, b])).toEqual([a, b]);
    expect(rests.restingLast([a, b])).toEqual([a, b]);
  });

  it('are tried by another call where the first one has not ended after 10 s', () => {
    const clock = { ms: 0 };
    const rests = restsAt(clock);
    rests.refused(a, refusal('rate_limited'));
    clock.ms = 5_000;
    expect(rests.restingLast([b, a])).toEqual([b, a]);
    expect(rests.restingLast([a, b])).toEqual([a, b]);
    clock.ms = 14_999;
    expect(rests.restingLast([a, b])).toEqual([b, a]);
    clock.ms = 15_000;
    expect(rests.restingLast([a, b])).toEqual([a, b]);
  });

  it('rest again where the call that tries them is refused', () => {
    const clock = { ms: 0 };
    const rests = restsAt(clock);
    rests.refused(a, refusal('account'));
    clock.ms = 60_000;
    expect(rests.restingLast([a, b])).toEqual([a, b]);
    rests.refused(a, refusal('account'));
    clock.ms = 119_999;
    expect(rests.restingLast([a, b])).toEqual([b, a]);
  });

  it('do not rest for failures that are not their own', () => {
    const rests = restsAt({ ms: 0 });
    expect(rests.refused(a, refusal('http_error'))).toBe(false);
    expect(rests.refused(a, new Error('other'))).toBe(false);
    expect(rests.restingLast([a, b])).toEqual([a, b]);
  });

  it('are all asked in the order of the ends of their rests where all rest', () => {
    const rests = restsAt({ ms: 0 });
    rests.refused(a, refusal('rate_limited', 30));
    rests.refused(b, refusal('rate_limited', 10));
    expect(rests.restingLast([a, b])).toEqual([b, a]);
  });
});
