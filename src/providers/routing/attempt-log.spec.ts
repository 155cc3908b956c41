import { describe, expect, it } from '@jest/globals';
import { ProviderError } from '../http/provider-error.js';
import type { FinishedAttempt } from '../ports/attempt.js';
import { AttemptLog, MAX_KEPT_ATTEMPTS } from './attempt-log.js';

const T0 = 1_000_000;
const first = { provider: 'first', upstreamModel: 'a' };
const second = { provider: 'second', upstreamModel: 'b' };
const refusal = new ProviderError('rate_limited', {
  provider: 'first',
  sent: true,
  upstreamStatus: 429,
  upstreamCode: 'slow_down',
  providerRequestId: 'r-1',
});
const refused: FinishedAttempt = {
  ...first,
  outcome: 'rate_limited',
  startedAtMs: T0 + 4,
  durationMs: 20.4,
  error: refusal,
};
const begun: FinishedAttempt = {
  ...second,
  outcome: 'success',
  startedAtMs: T0 + 25,
  durationMs: 100,
};

const logOf = (...attempts: readonly FinishedAttempt[]): AttemptLog => {
  const log = new AttemptLog();
  for (const attempt of attempts) log.add(attempt);
  return log;
};
const NOTHING = { status: null, code: null, requestId: null };

describe('the attempts of a call', () => {
  it('are not kept where one succeeded at once, nor where none was made', () => {
    expect(logOf(begun).ofSuccess(T0, T0 + 500, 'r-2')).toBeNull();
    expect(logOf().ofFailure(T0, T0 + 500, new Error('full'), false)).toBeNull();
  });

  it('have their times from the admission, and the answers of the providers', () => {
    expect(logOf(refused, begun).ofSuccess(T0, T0 + 525, 'r-2')).toEqual([
      {
        ...first,
        outcome: 'rate_limited',
        startMs: 4,
        durationMs: 20,
        firstByteMs: null,
        status: 429,
        code: 'slow_down',
        requestId: 'r-1',
      },
      {
        ...second,
        ...NOTHING,
        outcome: 'success',
        startMs: 25,
        durationMs: 500,
        firstByteMs: 100,
        requestId: 'r-2',
      },
    ]);
  });

  it('end with the failure that broke an answer which had begun', () => {
    const broke = new ProviderError('http_error', { provider: 'second', sent: true });
    const attempts = logOf(refused, begun).ofFailure(T0, T0 + 325, broke, false);
    expect(attempts?.at(-1)).toEqual({
      ...second,
      ...NOTHING,
      outcome: 'http_error',
      startMs: 25,
      durationMs: 300,
      firstByteMs: 100,
    });
    expect(logOf(begun).ofFailure(T0, T0 + 325, new Error('left'), true)).toEqual([
      expect.objectContaining({ outcome: 'aborted', durationMs: 300, firstByteMs: 100 }),
    ]);
  });

  it('are bounded: the first ones are kept and the last, and no text of a provider is long', () => {
    const long = new ProviderError('account', {
      provider: 'first',
      sent: true,
      providerRequestId: 'r'.repeat(10_000),
    });
    const many = Array.from({ length: 40 }, (_, index) => ({
      ...refused,
      startedAtMs: T0 + index,
      error: long,
    }));
    const attempts = logOf(...many).ofFailure(T0, T0 + 100, long, false) ?? [];
    expect(attempts.map(({ startMs }) => startMs)).toEqual([
      ...Array.from({ length: MAX_KEPT_ATTEMPTS - 1 }, (_, index) => index),
      39,
    ]);
    expect(JSON.stringify(attempts).length).toBeLessThan(8_000);
  });

  it('never have a negative time, whatever the clock does', () => {
    const early = { ...refused, startedAtMs: T0 - 5, durationMs: -3 };
    expect(logOf(early).ofFailure(T0, T0, refusal, false)).toEqual([
      expect.objectContaining({ startMs: 0, durationMs: 0 }),
    ]);
  });
});
