import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UPSTREAM_TIMEOUTS } from '../../../src/providers/http/upstream-timeouts.js';
import { AUDIO_SAMPLES } from '../../contract/audio-samples.js';
import { AudioHarness } from '../../support/audio-harness.js';
import { call, MUSIC } from '../../support/audio-operations.js';
import { audioSeconds, pcmOf } from '../../support/audio-seconds.js';
import { flagRule, provesFields } from '../../support/field-rules.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { jsonSeen } from '../../support/stub-provider.js';

const FIVE_MINUTES_MS = 300_000;

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

const compose = (fields: object) => harness.charges(MUSIC, () => harness.call(MUSIC, fields));

describe('POST /v1/audio/music', () => {
  it.each([
    [3, 11_250n, 'MUSIC-14, LIMIT-08'],
    [4, 15_000n, 'MUSIC-15'],
    [30, 112_500n, 'MUSIC-16'],
    [299, 1_121_250n, 'MUSIC-17'],
    [300, 1_125_000n, 'MUSIC-18, LIMIT-08'],
  ])('of %i s bills %d micro-USD (%s)', async (seconds, price) => {
    const { charged, seen } = await compose({ duration_seconds: seconds });
    expect(charged).toBe(price);
    expect(jsonSeen(seen).music_length_ms).toBe(seconds * 1_000);
  });

  it.each([27, 33])(
    'bills the requested 30 s when %i s are returned (MUSIC-21)',
    async (seconds) => {
      harness.provider.reply = (response) => response.end(pcmOf(seconds));
      const { answer, charged } = await compose({ duration_seconds: 30, response_format: 'pcm' });
      expect(audioSeconds(answer, 'pcm')).toBe(seconds);
      expect(charged).toBe(112_500n);
    },
  );

  it('lasts 30 s by default (MUSIC-19)', async () => {
    const { charged, seen } = await compose({});
    expect(charged).toBe(112_500n);
    expect(jsonSeen(seen)).toEqual({
      model_id: 'music_v2_5',
      prompt: 'piano',
      music_length_ms: 30_000,
    });
  });

  it.each([2, 301, 0, 30.5, '30', true, -3])(
    'refuses the duration %j (MUSIC-20, LIMIT-08)',
    async (seconds) => {
      await harness.refusesField(MUSIC, 'duration_seconds', seconds);
    },
  );

  it('takes 30.0 for 30 (MUSIC-20, G-03)', async () => {
    const body = '{"model":"aud-music-v2.5","prompt":"piano","duration_seconds":30.0}';
    const send = () => postJson(harness.url(MUSIC), harness.account.headers, body);
    expect((await harness.charges(MUSIC, send)).charged).toBe(112_500n);
  });

  it('takes a prompt of 4,100 code points, not one more (MUSIC-22, LIMIT-08, G-35)', async () => {
    const prompt = '\u{1f3b9}'.repeat(4_100);
    expect(jsonSeen((await compose({ prompt })).seen).prompt).toBe(prompt);
    await harness.refusesField(MUSIC, 'prompt', `${prompt}x`);
  });

  it.each([undefined, null, '', ' \n', 5])('refuses the prompt %j (MUSIC-23)', async (prompt) => {
    await harness.refusesField(MUSIC, 'prompt', prompt);
  });

  it('takes lyrics of 4,000 code points, not one more, and no number (MUSIC-24, LIMIT-08)', async () => {
    const lyrics = '\u{1f3a4}'.repeat(4_000);
    expect(jsonSeen((await compose({ lyrics })).seen).lyrics_text).toBe(lyrics);
    await harness.refusesField(MUSIC, 'lyrics', `${lyrics}x`);
    await harness.refusesField(MUSIC, 'lyrics', 5);
  });

  it.each(['', ' \n\t', '\u3000', null])('leaves out the lyrics %j (MUSIC-24)', async (lyrics) => {
    expect(jsonSeen((await compose({ lyrics })).seen)).not.toHaveProperty('lyrics_text');
  });

  provesFields(() => harness, MUSIC, [
    flagRule('instrumental', 'force_instrumental', ['MUSIC-25', 'MUSIC-26']),
  ]);

  it('sends no lyrics for instrumental music (MUSIC-27, G-50)', async () => {
    const { seen } = await compose({ instrumental: true, lyrics: 'La la la' });
    expect(jsonSeen(seen)).toMatchObject({ force_instrumental: true });
    expect(jsonSeen(seen)).not.toHaveProperty('lyrics_text');
  });

  it.each([
    ['mp3', 'mp3_44100_128', 'audio/mpeg'],
    ['opus', 'opus_48000_128', 'audio/ogg'],
    ['pcm', 'pcm_24000', 'audio/pcm'],
    [undefined, 'mp3_44100_128', 'audio/mpeg'],
  ])('answers in the format %s (MUSIC-28, MUSIC-29)', async (format, asked, type) => {
    const { answer, seen } = await compose({ response_format: format });
    expect(seen.url).toBe(`/v1/music?output_format=${asked}`);
    expect(answer.headers.get('content-type')).toBe(type);
  });

  it.each(['wav', 'flac', 1])('refuses the response_format %j (MUSIC-30)', async (format) => {
    await harness.refusesField(MUSIC, 'response_format', format);
  });

  it('waits for minutes while the provider composes (MUSIC-31)', async () => {
    expect(UPSTREAM_TIMEOUTS.composition.headMs).toBeGreaterThan(FIVE_MINUTES_MS);
    expect(harness.gateway.config.callDeadlineMs).toBeGreaterThan(FIVE_MINUTES_MS);
    const server = harness.gateway.app.getHttpServer();
    expect(server.timeout).toBe(0);
    const { requestTimeout, headersTimeout } = server;
    // Limits of a request must not limit its answer: the provider takes far longer than both.
    Object.assign(server, { requestTimeout: 1_000, headersTimeout: 1_000 });
    harness.provider.reply = async (response) => {
      await sleep(2_500);
      response.end(AUDIO_SAMPLES.mp3);
    };
    const { answer, charged } = await compose({}).finally(() =>
      Object.assign(server, { requestTimeout, headersTimeout }),
    );
    expect(answer.bytes.equals(AUDIO_SAMPLES.mp3)).toBe(true);
    expect(charged).toBe(112_500n);
  });
});

describe('the audio itself', () => {
  let gateway: TestGateway;
  let account: TestAccount;

  beforeAll(async () => {
    gateway = await startTestGateway();
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.expectCleanBooks();
    await gateway.stop();
  });

  it.each(['mp3', 'opus', 'pcm', undefined] as const)(
    'lasts as long as asked for, as %s (MUSIC-14, MUSIC-28, MUSIC-29)',
    async (response_format) => {
      const fields = { duration_seconds: 3, response_format };
      const answer = await call(MUSIC, gateway.url, account.headers, fields);
      // The last frame of an MP3 is completed with silence.
      expect(audioSeconds(answer, response_format)).toBeCloseTo(3, 1);
    },
  );
});
