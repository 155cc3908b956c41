import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postJson } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { expectRefused, upstreamCalls } from '../../support/refusal.js';
import { paidSpeech, INSTANT } from '../../support/paid-speech.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;

beforeAll(async () => {
  gateway = await sharedGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

/** A text of this many code points, for which the upstream answers at once. */
const textOf = (codePoints: number) =>
  codePoints > INSTANT.length ? INSTANT + 'x'.repeat(codePoints - INSTANT.length) : 'x';

it('serves several callers at once, each charged its own price', async () => {
  const before = await upstreamCalls(gateway);
  const prices = await Promise.all(
    [1, 2, 3, 4, 5, 6].map(async (length) => {
      const { accountId, headers } = await gateway.account(10_000n);
      const body = { ...HELLO, input: 'x'.repeat(length) };
      await postJson(`${gateway.url}/v1/audio/speech`, headers, body);
      return 10_000n - (await gateway.balance(accountId)).available;
    }),
  );
  expect(prices).toEqual([120n, 240n, 360n, 480n, 600n, 720n]);
  expect((await upstreamCalls(gateway)) - before).toBe(6);
});

describe('POST /v1/audio/speech', () => {
  it('answers audio for the smallest request and charges 600 micro-USD once (SPEECH-01)', async () => {
    const { answer, charged, upstream } = await paidSpeech(gateway);
    expect(charged).toBe(600n);
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('x-gateway-execution-id')).toMatch(/^exec_[0-9a-f]{32}$/);
    expect(upstream.path).toBe('/elevenlabs/v1/text-to-speech/pNInz6obpgDQGcFmaJgB');
  });

  it('sends the provider only requested fields (SPEECH-71, G-38)', async () => {
    const { upstream } = await paidSpeech(gateway);
    expect(upstream.body).toEqual({ model_id: 'eleven_v4', text: 'Hello' });
    expect(upstream.query).toEqual({ output_format: 'mp3_44100_128' });
  });

  it('accepts a balance of exactly the price and refuses one micro-USD less (SPEECH-08)', async () => {
    const { accountId, headers } = await gateway.account(599n);
    const speak = () => postJson(`${gateway.url}/v1/audio/speech`, headers, HELLO);
    await expectRefused(gateway, accountId, speak, { status: 402, code: 'insufficient_funds' });
    const exact = await gateway.account(600n);
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, exact.headers, HELLO);
    expect(answer.status).toBe(200);
    expect(await gateway.balance(exact.accountId)).toMatchObject({ available: 0n, held: 0n });
  });

  it('charges the same text with the same seed each time (SPEECH-75)', async () => {
    const { accountId, headers } = await gateway.account(1200n);
    for (let time = 0; time < 2; time++) {
      const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, {
        ...HELLO,
        seed: 7,
      });
      expect(answer.status).toBe(200);
    }
    expect(await gateway.balance(accountId)).toEqual({ available: 0n, held: 0n, entries: 3 });
  });
});

describe('the price of a text', () => {
  it.each([
    ['aud-v4', 10_000, 'SPEECH-14', 1_200_000n],
    ['aud-v4', 1, 'SPEECH-16', 120n],
    ['aud-v4', 1_000, 'SPEECH-16', 120_000n],
    ['aud-v3', 5_000, 'SPEECH-17', 600_000n],
    ['aud-v3', 1, 'SPEECH-19', 120n],
    ['aud-v3', 1_000, 'SPEECH-19', 120_000n],
    ['aud-multilingual-v2', 10_000, 'SPEECH-20', 1_200_000n],
    ['aud-multilingual-v2', 1, 'SPEECH-22', 120n],
    ['aud-multilingual-v2', 1_000, 'SPEECH-22', 120_000n],
    ['aud-flash-v2.5', 40_000, 'SPEECH-23', 2_400_000n],
    ['aud-flash-v2.5', 1, 'SPEECH-25', 60n],
    ['aud-flash-v2.5', 1_000, 'SPEECH-25', 60_000n],
    ['aud-v4', 1_234, 'BILL-27', 148_080n],
    ['aud-flash-v2.5', 33_333, 'BILL-27', 1_999_980n],
  ])('of %s with %i code points is exact (%s)', async (model, codePoints, _row, price) => {
    const { charged, upstream } = await paidSpeech(gateway, { model, input: textOf(codePoints) });
    expect(charged).toBe(price);
    expect(upstream.bodyBytes).toBeGreaterThan(codePoints);
  });

  it.each([
    ['aud-v4', 10_001, 'SPEECH-15'],
    ['aud-v3', 5_001, 'SPEECH-18'],
    ['aud-multilingual-v2', 10_001, 'SPEECH-21'],
    ['aud-flash-v2.5', 40_001, 'SPEECH-24'],
    // Nearly as much as a body can have.
    ['aud-v4', 1_048_000, 'SPEECH-15'],
  ])('is never asked for %s with %i code points (%s)', async (model, codePoints) => {
    const { accountId, headers } = await gateway.account();
    const body = { ...HELLO, model, input: textOf(codePoints) };
    await expectRefused(
      gateway,
      accountId,
      () => postJson(`${gateway.url}/v1/audio/speech`, headers, body),
      { status: 400, code: 'input_too_long', param: 'input' },
    );
  });

  it.each([
    ['a letter with a combining accent', 'SPEECH-26', 'a\u0301', 240n],
    ['the same letter precomposed', 'SPEECH-26', '\u00e1', 120n],
    ['one emoji of two UTF-16 units', 'SPEECH-27', '\u{1F600}', 120n],
    ['a thumb with a skin tone', 'SPEECH-28', '\u{1F44D}\u{1F3FD}', 240n],
    [
      'a family of four',
      'SPEECH-28',
      '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u200D\u{1F466}',
      840n,
    ],
    ['a flag', 'SPEECH-28', '\u{1F1E9}\u{1F1EA}', 240n],
    ['spaces around a word and a newline', 'SPEECH-30', ' Hi \n', 600n],
    ['words on two lines', 'SPEECH-31', 'a\nb', 360n],
    ['words on two Windows lines', 'SPEECH-31', 'a\r\nb', 480n],
    ['a line separator', 'SPEECH-35', 'a\u2028b', 360n],
    ['a zero-width joiner', 'SPEECH-35', 'a\u200Db', 360n],
    ['a variation selector', 'SPEECH-35', 'a\uFE0Fb', 360n],
  ])('counts each code point of %s, sent unchanged (%s)', async (_name, _row, input, price) => {
    const { charged, upstream } = await paidSpeech(gateway, { input });
    expect(charged).toBe(price);
    expect(upstream.body.text).toBe(input);
  });

  it('lets 10,000 emoji pass as 10,000 characters and refuses 10,001 (SPEECH-29, LIMIT-02, G-36)', async () => {
    const fields = { input: '\u{1F600}'.repeat(10_000), previous_text: INSTANT };
    expect((await paidSpeech(gateway, fields)).charged).toBe(1_200_000n);
    const { accountId, headers } = await gateway.account();
    const body = { ...HELLO, input: '\u{1F600}'.repeat(10_001) };
    await expectRefused(
      gateway,
      accountId,
      () => postJson(`${gateway.url}/v1/audio/speech`, headers, body),
      { status: 400, code: 'input_too_long', param: 'input' },
    );
  });

  it.each([
    ['previous_text', 'SPEECH-65, LIMIT-03'],
    ['next_text', 'SPEECH-67, LIMIT-03'],
  ])('does not count 5,000 code points of %s, which reach the provider (%s)', async (field) => {
    const context = textOf(5_000);
    const { charged, upstream } = await paidSpeech(gateway, { [field]: context });
    expect(charged).toBe(600n);
    expect(upstream.body).toEqual({ model_id: 'eleven_v4', text: 'Hello', [field]: context });
  });
});
