import { describe, expect, it } from '@jest/globals';
import { ProviderError } from '../http/provider-error.js';
import { isOfKey, KeyRests } from './key-rests.js';

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
    rests.refused(a, error);
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
    rests.accepted(a, clock.ms);
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

  it('are told from failures that are not their own', () => {
    expect([refusal('rate_limited'), refusal('account')].map(isOfKey)).toEqual([true, true]);
    expect([refusal('http_error'), new Error('other')].map(isOfKey)).toEqual([false, false]);
  });

  it('rest on where a call that began before the refusal is answered', () => {
    const clock = { ms: 1_000 };
    const rests = restsAt(clock);
    rests.refused(a, refusal('rate_limited', 30));
    rests.accepted(a, 1_000);
    expect(rests.restingLast([a, b])).toEqual([b, a]);
    clock.ms = 1_001;
    rests.accepted(a, 1_001);
    expect(rests.restingLast([a, b])).toEqual([a, b]);
  });

  it('rest for the longest time that a refusal named', () => {
    const clock = { ms: 0 };
    const rests = restsAt(clock);
    rests.refused(a, refusal('account'));
    rests.refused(a, refusal('rate_limited'));
    clock.ms = 59_999;
    expect(rests.restingLast([a, b])).toEqual([b, a]);
  });

  it('are tried by the next call where they are refused for no time', () => {
    const clock = { ms: 0 };
    const rests = restsAt(clock);
    rests.refused(a, refusal('rate_limited', 0));
    clock.ms = 1;
    expect(rests.restingLast([a, b])).toEqual([a, b]);
    rests.accepted(a, 1);
    expect(rests.restingLast([a, b])).toEqual([a, b]);
  });

  it('are tried at once by the next call where the trial says nothing', () => {
    const clock = { ms: 0 };
    const rests = restsAt(clock);
    rests.refused(a, refusal('account'));
    rests.undecided(a);
    expect(rests.restingLast([a, b])).toEqual([b, a]);
    clock.ms = 60_000;
    expect(rests.restingLast([a, b])).toEqual([a, b]);
    rests.undecided(a);
    expect(rests.restingLast([a, b])).toEqual([a, b]);
    expect(rests.restingLast([a, b])).toEqual([b, a]);
  });

  it('are all asked in the order of the ends of their rests where all rest', () => {
    const rests = restsAt({ ms: 0 });
    rests.refused(a, refusal('rate_limited', 30));
    rests.refused(b, refusal('rate_limited', 10));
    expect(rests.restingLast([a, b])).toEqual([b, a]);
  });
});
