import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ADMIN } from '../../support/admin-harness.js';
import { type Answer, errorOf, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { QuoteHarness, type TestRequest } from '../../support/quote-harness.js';
import { until } from '../../support/until.js';

const SPEECH = '/v1/audio/speech';
const CHAT = '/v1/chat/completions';

let harness: QuoteHarness;

beforeAll(async () => {
  harness = await QuoteHarness.start();
});
afterAll(() => harness.stop());

const words = fc.string({ minLength: 1, maxLength: 30, unit: 'grapheme-ascii' });
const wrong = <T>(good: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: good }, fc.constantFrom(null, 7, '', [], 'nothing'));

/** Requests of endpoints, some of them with faults. */
const requests: fc.Arbitrary<TestRequest> = fc.oneof(
  fc.record({
    path: fc.constant(SPEECH),
    body: fc.record({
      model: wrong(fc.constantFrom('aud-v4', 'aud-flash-v2.5', 'gen-5')),
      input: wrong(words),
      voice: wrong(fc.constant('Adam')),
    }),
  }),
  fc.record({
    path: fc.constant(CHAT),
    body: fc.record(
      {
        model: wrong(fc.constantFrom('gen-5', 'gen-5-mini', 'gen-4-mini')),
        messages: wrong(fc.array(fc.record({ role: fc.constant('user'), content: words }))),
        max_tokens: wrong(fc.integer({ min: 1, max: 300_000 })),
      },
      { requiredKeys: ['model', 'messages'] },
    ),
  }),
  fc.record({
    path: fc.constant('/v1/images/generations'),
    body: fc.record({
      model: fc.constantFrom('gen-image-2', 'gen-image-2-all'),
      prompt: wrong(words),
      size: fc.constantFrom('1024x1024', 'auto', '7x7'),
    }),
  }),
  fc.record({
    path: fc.constant('/v1/audio/sound-effects'),
    body: fc.record({
      model: wrong(fc.constant('aud-sound-effects-v2')),
      prompt: wrong(words),
      duration_seconds: wrong(fc.constantFrom(0.5, 1, 2.05)),
    }),
  }),
  fc.record({
    path: fc.constant('/v1/videos'),
    body: fc.record(
      {
        model: fc.constantFrom('vid-omni', 'vid-motion'),
        prompt: wrong(words),
        seconds: wrong(fc.constantFrom('5', '10', '15')),
        webhook: fc.constantFrom('https://example.com/hook', 'http://127.0.0.1/', 'no url'),
      },
      { requiredKeys: ['model', 'prompt', 'seconds'] },
    ),
  }),
  fc.record({
    path: fc.constant('/v1/music/generations'),
    body: fc.record(
      {
        model: fc.constantFrom('song-music', 'song-lyrics'),
        prompt: wrong(words),
        source_task_id: fc.constant(`task_${'0'.repeat(32)}`),
      },
      { requiredKeys: ['model', 'prompt'] },
    ),
  }),
);

describe('a quote and its call', () => {
  it('hold the same, or are refused alike, for any request', async () => {
    const rich = await harness.gateway.account(50_000_000n);
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const quote = await harness.quote(request, rich);
        const answer = await harness.call(request, rich, quote.id);
        if (quote.error) expect(quote.error).toEqual(errorOf(answer));
        else {
          expect(answer.status).toBeLessThan(300);
          expect(await harness.heldBy(answer)).toBe(quote.hold_microusd);
        }
        const { accountId } = rich;
        await until(async () => (await harness.gateway.balance(accountId)).held === 0n);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a bound quote', () => {
  it('fixes the price of its call although the price book has changed', async () => {
    const booked = await harness.gateway.account();
    const book = `quoted-${booked.accountId}`;
    const admin = (method: string, path: string, body: object): Promise<Answer> =>
      send(`${harness.gateway.url}/admin${path}`, {
        method,
        headers: { ...ADMIN, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    await admin('POST', '/price-books', { id: book, factor_permille: 500 });
    const path = `/accounts/acct_${booked.accountId.replaceAll('-', '')}`;
    await admin('PATCH', path, { price_book: book });
    const request = { path: SPEECH, body: HELLO };
    const seen = (factor: number): Promise<void> =>
      until(async () => (await harness.quote(request, booked)).factor_permille === factor);
    await seen(500);
    const { id, hold_microusd: hold } = await harness.quote(request, booked);
    expect(hold).toBe('300');
    await admin('PUT', `/price-books/${book}`, { factor_permille: 3_000 });
    await seen(3_000);
    const reordered = { voice: 'Adam', input: 'Hello', model: 'aud-v4' };
    const answer = await harness.call({ path: SPEECH, body: reordered }, booked, id);
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe('300');
    expect((await harness.call(request, booked)).headers.get('x-gateway-charge-microusd')).toBe(
      '1800',
    );
  });

  it.each([
    ['altered', (id: string) => `${id.slice(0, 10)}A${id.slice(11)}`, HELLO],
    ['another text', () => 'quote_1', HELLO],
    ['of another body', (id: string) => id, { ...HELLO, input: 'Hello!' }],
  ])('that is %s is 400 before any hold', async (_what, alter, body) => {
    const { id = '' } = await harness.quote({ path: SPEECH, body: HELLO });
    const answer = await harness.call({ path: SPEECH, body }, harness.account, alter(id));
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_quote', param: 'x-gateway-quote' });
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await harness.heldBy(answer)).toBeUndefined();
  });

  it('is of one account', async () => {
    const other = await harness.gateway.account();
    const { id } = await harness.quote({ path: SPEECH, body: HELLO });
    const answer = await harness.call({ path: SPEECH, body: HELLO }, other, id);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_quote' });
  });
});
