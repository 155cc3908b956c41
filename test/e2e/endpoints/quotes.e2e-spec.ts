import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf, postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { QuoteHarness } from '../../support/quote-harness.js';

const SPEECH = '/v1/audio/speech';
const CHAT = '/v1/chat/completions';
const HI = { model: 'gen-5-mini', messages: [{ role: 'user', content: 'Hi' }] };

let harness: QuoteHarness;

beforeAll(async () => {
  harness = await QuoteHarness.start();
});
afterAll(() => harness.stop());

describe('a quote', () => {
  it('says what is held and charged, by lines, and holds nothing', async () => {
    const quote = await harness.quote({ method: 'POST', path: SPEECH, body: HELLO });
    expect(quote).toMatchObject({
      object: 'quote',
      id: expect.stringMatching(/^quote_/),
      model: 'aud-v4',
      hold_microusd: '600',
      charge_microusd: '600',
      lines: [
        {
          unit: 'code_point',
          quantity: 5,
          unit_price_microusd: '120',
          per: 1,
          amount_microusd: '600',
        },
      ],
      fits: true,
      unchecked: [],
    });
    expect(quote.error).toBeUndefined();
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({
      held: 0n,
      entries: 1,
    });
  });

  it('of a chat has the hold that fits, its output cap, and no charge', async () => {
    const quote = await harness.quote({ path: CHAT, body: HI });
    expect(quote).toMatchObject({ charge_microusd: null, fits: true });
    const answer = await harness.call({ path: CHAT, body: HI });
    expect(await harness.heldBy(answer)).toBe(quote.hold_microusd);
    expect(answer.headers.get('x-gateway-output-cap')).toBe(String(quote.output_cap));
    expect(quote.lines.map(({ unit }) => unit)).toEqual(['input', 'output']);
  });

  it('of a recording takes the length that is told, or says that it is not known', async () => {
    const request = { path: '/v1/audio/transcriptions', body: { model: 'aud-transcribe-v2' } };
    expect(await harness.quote({ ...request, duration_seconds: 12.34 })).toMatchObject({
      hold_microusd: '1196',
      lines: [{ unit: 'second', quantity: 13, amount_microusd: '1196' }],
      unchecked: ['media'],
    });
    const body = { ...request.body, audio_url: 'https://example.com/a.mp3' };
    expect(await harness.quote({ ...request, body })).toMatchObject({
      hold_microusd: null,
      charge_microusd: null,
      fits: null,
      lines: [{ quantity: null, unit_price_microusd: '92', amount_microusd: null }],
      unchecked: ['media'],
    });
    expect((await harness.quote(request)).error).toMatchObject({ code: 'audio_input_required' });
    expect((await harness.quote({ ...request, duration_seconds: 900_000 })).error).toMatchObject({
      code: 'audio_too_long',
    });
    const dub = {
      path: '/v1/audio/dubbing',
      body: { model: 'aud-dubbing-v1', source_url: body.audio_url, target_language: 'fr' },
      duration_seconds: 1_801,
    };
    expect((await harness.quote(dub)).error).toMatchObject({ code: 'media_too_long' });
    expect(await harness.quote({ ...dub, duration_seconds: 2 })).toMatchObject({
      hold_microusd: '25000',
      unchecked: ['replay', 'media'],
    });
  });

  it('for want of money has its prices, and the 402 beside them', async () => {
    const poor = await harness.gateway.account(100n);
    const quote = await harness.quote({ path: SPEECH, body: HELLO }, poor);
    expect(quote).toMatchObject({
      hold_microusd: '600',
      fits: false,
      available_microusd: '100',
      error: { code: 'insufficient_funds', needed_microusd: '600', available_microusd: '100' },
    });
    expect(quote.error).toEqual(errorOf(await harness.call({ path: SPEECH, body: HELLO }, poor)));
    const chat = { path: CHAT, body: HI };
    expect((await harness.quote(chat, poor)).error).toEqual(
      errorOf(await harness.call(chat, poor)),
    );
    const limited = await harness.gateway.account(1_000_000n, {
      spendLimitMicroUsd: 70n,
      spendLimitPeriod: 'day',
    });
    expect(await harness.quote({ path: SPEECH, body: HELLO }, limited)).toMatchObject({
      fits: false,
      available_microusd: '70',
      error: { param: 'spend_limit' },
    });
  });

  it('counts what made keys spent against the limit of their maker, as the call does', async () => {
    const maker = await harness.gateway.account(1_000_000n, {
      scopes: ['read', 'call', 'manage'],
      spendLimitMicroUsd: 1_000n,
      spendLimitPeriod: 'total',
    });
    const issued = await postJson(`${harness.gateway.url}/v1/keys`, maker.headers, {});
    const { key } = issued.json as { key: string };
    const made = { ...maker, headers: { authorization: `Bearer ${key}` } };
    const request = { path: SPEECH, body: HELLO };
    expect((await harness.call(request, made)).status).toBe(200);
    for (const by of [maker, made]) {
      const quote = await harness.quote(request, by);
      expect(quote).toMatchObject({ fits: false, available_microusd: '400' });
      // For 2 s after a key was changed the message of a call may not name its limit.
      const { message, ...error } = errorOf(await harness.call(request, by));
      expect(quote.error).toMatchObject(error);
      expect(message).toContain('400 micro-USD are available');
    }
  });

  it('of a list comes in its order; each request counts as a read', async () => {
    const slow = await harness.gateway.account(1_000n, { requestsPerMinute: 1 });
    const one = { path: SPEECH, body: HELLO };
    const bad = { path: SPEECH, body: { ...HELLO, voice: 'Nobody' } };
    const answer = await harness.ask({ requests: [one, bad, one] }, slow);
    expect(answer.json).toMatchObject({
      object: 'list',
      data: [{ hold_microusd: '600' }, { error: { param: 'voice' } }, { hold_microusd: '600' }],
    });
    expect(answer.headers.get('x-ratelimit-limit-requests')).toBe('10');
    expect(Number(answer.headers.get('x-ratelimit-remaining-requests'))).toBe(7);
    const many = await harness.ask({ requests: Array.from({ length: 8 }, () => one) }, slow);
    expect(many.status).toBe(429);
  });

  it.each([
    ['neither a path nor requests', {}, 'path'],
    ['both', { path: SPEECH, requests: [{ path: SPEECH }] }, 'path'],
    ['no request', { requests: [] }, 'requests'],
    ['too many', { requests: Array.from({ length: 1_001 }, () => ({ path: SPEECH })) }, 'requests'],
    ['a negative length', { path: SPEECH, duration_seconds: -1 }, 'duration_seconds'],
    ['a request without a path', { requests: [{ body: {} }] }, 'requests.0.path'],
  ])('is refused for %s', async (_what, body, param) => {
    const answer = await harness.ask(body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', param });
  });

  it('of a path or a method that is not sold is the refusal of it', async () => {
    expect((await harness.quote({ path: '/v1/nothing', body: {} })).error).toMatchObject({
      code: 'not_found',
    });
    expect((await harness.quote({ method: 'GET', path: SPEECH })).error).toMatchObject({
      code: 'method_not_allowed',
    });
  });

  it('is of a body of at most a megabyte', async () => {
    const input = 'a'.repeat(1_048_576);
    const answer = await harness.ask({ path: SPEECH, body: { ...HELLO, input } });
    expect(answer.status).toBe(413);
  });
});
