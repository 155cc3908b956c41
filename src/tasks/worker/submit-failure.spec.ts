import { describe, expect, it } from '@jest/globals';
import { MAX_KEPT_ATTEMPTS } from '../../providers/routing/attempt-log.js';
import { ProviderError, type ProviderErrorDetail } from '../../providers/http/provider-error.js';
import {
  classifySubmitFailure,
  deferDelayMs,
  isRefusedRepeat,
  isRefusedUnbegun,
  mayHaveBegun,
  rejectionMessage,
} from './submit-failure.js';

const error = (detail: Omit<ProviderErrorDetail, 'provider'>) =>
  new ProviderError('http_error', { provider: 'acme', ...detail });
const answered = (upstreamStatus: number, upstreamCode?: string) =>
  error({ sent: true, upstreamStatus, upstreamCode });
const overloaded = (upstreamStatus: number) =>
  new ProviderError('unavailable', { provider: 'acme', sent: true, upstreamStatus });

/** A later request of a work whose earlier ones were served. */
const later = (failure: ProviderError) => Object.assign(failure, { isPartial: true });

describe('classifySubmitFailure', () => {
  it.each([
    ['a refused connection', error({ sent: false, upstreamCode: 'ECONNREFUSED' }), 'deferred'],
    ['an open breaker', error({ sent: false, upstreamCode: 'breaker_open' }), 'deferred'],
    [
      'a command that the adapter cannot express',
      new ProviderError('rejected', { provider: 'acme', sent: false }),
      'failed',
    ],
    ['429', answered(429), 'deferred'],
    ['499', answered(499), 'deferred'],
    ['503 of the provider', answered(503, 'overloaded'), 'deferred'],
    ['529', overloaded(529), 'deferred'],
    ['an overload that a 200 tells', overloaded(503), 'deferred'],
    ['429 behind what was served', later(answered(429)), 'unknown'],
    ['a refused connection behind what was served', later(error({ sent: false })), 'unknown'],
    ['400 behind what was served', later(answered(400)), 'failed'],
    ['400', answered(400), 'failed'],
    ['401 of our key', answered(401, 'invalid_api_key'), 'failed'],
    ['404', answered(404), 'failed'],
    ['500 in the shape of the provider', answered(500, 'generation_error'), 'failed'],
    ['500 in HTML', answered(500), 'unknown'],
    ['502', answered(502, 'bad_gateway'), 'unknown'],
    ['504', answered(504), 'unknown'],
    ['502 with a word of overload', overloaded(502), 'unknown'],
    ['504 with a word of overload', overloaded(504), 'unknown'],
    ['524 of a proxy that stopped waiting', overloaded(524), 'unknown'],
    ['200 with HTML', answered(200, 'bad_json'), 'unknown'],
    ['a redirect', answered(302), 'unknown'],
    ['a reset after the send', error({ sent: true, upstreamCode: 'ECONNRESET' }), 'unknown'],
    ['an error of ours', new TypeError('x is undefined'), 'unknown'],
  ] as const)('classifies %s as %s', (_name, thrown, meaning) => {
    expect(classifySubmitFailure(thrown)).toBe(meaning);
  });
});

describe('isRefusedUnbegun', () => {
  const refused = (kind: ProviderError['kind'], upstreamStatus: number, upstreamCode?: string) =>
    new ProviderError(kind, { provider: 'acme', sent: true, upstreamStatus, upstreamCode });

  it.each([
    ['a key without balance', refused('account', 402), true],
    ['a key without balance behind what was served', later(refused('account', 402)), false],
    ['the rate of a key', refused('rate_limited', 429), true],
    ['an overload with a word of the provider', refused('unavailable', 503, 'overloaded'), true],
    ['an overload that says nothing, as of a proxy', refused('unavailable', 503), false],
    ['a refused connection', error({ sent: false }), true],
    ['a reset after the send', error({ sent: true, upstreamCode: 'ECONNRESET' }), false],
    ['a refusal of the work', refused('rejected', 400, 'bad_prompt'), false],
  ])('of %s: %s', (_name, failure, isUnbegun) => {
    expect(isRefusedUnbegun(failure)).toBe(isUnbegun);
  });
});

describe('mayHaveBegun', () => {
  const putOff = (detail: Omit<ProviderErrorDetail, 'provider' | 'sent'>) =>
    new ProviderError('unavailable', { provider: 'acme', sent: true, ...detail });

  it.each([
    ['a bare 503', putOff({ upstreamStatus: 503 }), true],
    ['499', answered(499), true],
    ['503 that says when', putOff({ upstreamStatus: 503, retryAfterSeconds: 5 }), false],
    ['503 with a word', putOff({ upstreamStatus: 503, upstreamCode: 'overloaded' }), false],
    ['529', putOff({ upstreamStatus: 529 }), false],
    ['429', answered(429), false],
    ['502', answered(502), false],
    ['a refused connection', error({ sent: false, upstreamCode: 'ECONNREFUSED' }), false],
    ['an error of ours', new TypeError('x is undefined'), false],
  ])('of %s: %s', (_name, failure, may) => {
    expect(mayHaveBegun(failure)).toBe(may);
  });
});

describe('isRefusedRepeat', () => {
  const LIMITED = { provider: 'acme', outcome: 'rate_limited', status: 429, code: null };
  const refusal = (kind: ProviderError['kind'], upstreamStatus: number) =>
    new ProviderError(kind, { provider: 'acme', sent: true, upstreamStatus });
  /** A task that was put off by the rate of a key as often as its record keeps, and the mark of a put-off that may have begun it. */
  const taskWith = (mark: object) => {
    const attempts = Array.from({ length: MAX_KEPT_ATTEMPTS }, () => LIMITED);
    return { provider: 'acme', stepState: { providerFigures: { attempts, ...mark } } };
  };
  const marked = (provider: string) => taskWith({ openSubmission: { provider, startMs: 0 } });

  it.each([
    ['a put-off that may have begun the work', marked('acme'), true],
    ['such a put-off of another provider', marked('other'), false],
    ['put-offs by the rate of keys alone', taskWith({}), false],
    ['nothing', { provider: 'acme', stepState: {} }, false],
  ])('of a refusal after %s: %s', (_name, task, isRepeat) => {
    expect(isRefusedRepeat(refusal('rejected', 400), task)).toBe(isRepeat);
    expect(isRefusedRepeat(refusal('misconfigured', 404), task)).toBe(isRepeat);
  });

  it.each([
    ['of our account', refusal('account', 401)],
    ['that puts off again', refusal('unavailable', 503)],
    [
      'about the content',
      new ProviderError('rejected', {
        ...{ provider: 'acme', sent: true, upstreamStatus: 400, isContentRefusal: true },
      }),
    ],
    ['that is unknown itself', refusal('http_error', 502)],
    ['that was never sent', new ProviderError('rejected', { provider: 'acme', sent: false })],
    ['of ours', new TypeError('x is undefined')],
  ])('is none of an error %s', (_name, thrown) => {
    expect(isRefusedRepeat(thrown, marked('acme'))).toBe(false);
  });
});

describe('deferDelayMs', () => {
  it('returns 1, 2, 4, then 5 s, for 10 minutes', () => {
    const delays = [0, 1, 2, 3, 4, 50].map((putOffs) => deferDelayMs(putOffs, 0));
    expect(delays).toEqual([1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
    expect(deferDelayMs(100, 599_999)).toBe(5_000);
    expect(deferDelayMs(100, 600_000)).toBeUndefined();
  });
});

describe('refusalMessage', () => {
  it("contains the provider's error code and nothing else of the provider (G-96)", () => {
    expect(rejectionMessage(answered(400, 'unsupported_language'))).toBe(
      'The provider refused the task: unsupported_language.',
    );
    expect(rejectionMessage(answered(400, 'Our-Host.example'))).toBe(
      'The provider refused the task.',
    );
  });

  it("contains no code that names a vendor or concerns the gateway's account there (CONV-06, ERR-41)", () => {
    const ours = { provider: 'acme', sent: true, upstreamStatus: 401, upstreamCode: 'no_credit' };
    for (const refusal of [
      answered(400, 'openai_policy'),
      answered(500, 'suno.failed'),
      new ProviderError('account', ours),
    ]) {
      expect(rejectionMessage(refusal)).toBe('The provider refused the task.');
    }
  });
});
