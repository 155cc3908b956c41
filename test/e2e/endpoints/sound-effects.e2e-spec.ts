import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import { call, SOUND_EFFECTS } from '../../support/audio-operations.js';
import { audioSeconds, pcmOf } from '../../support/audio-seconds.js';
import { flagRule, numberRule, provesFields } from '../../support/field-rules.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { jsonSeen } from '../../support/stub-provider.js';

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

const make = (fields: object) =>
  harness.charges(SOUND_EFFECTS, () => harness.call(SOUND_EFFECTS, fields));

describe('POST /v1/audio/sound-effects', () => {
  it.each([
    [0.5, 3_000n, 'SFX-14'],
    [1, 3_000n, 'SFX-15'],
    [2.5, 9_000n, 'SFX-16'],
    [5, 15_000n, 'SFX-17'],
    [29.01, 90_000n, 'SFX-18'],
    [30, 90_000n, 'SFX-19, LIMIT-07'],
    [2.05, 9_000n, 'SFX-20'],
    [1.1, 6_000n, 'SFX-20'],
    [3.0000001, 12_000n, 'SFX-20'],
    [4.1, 15_000n, 'SFX-20'],
  ])(
    'of %d s bills %d micro-USD and asks the provider for as much (%s)',
    async (seconds, price) => {
      const { charged, seen } = await make({ duration_seconds: seconds });
      expect(charged).toBe(price);
      expect(jsonSeen(seen).duration_seconds).toBe(seconds);
    },
  );

  it('lasts 5 s by default (SFX-21)', async () => {
    for (const duration_seconds of [undefined, null]) {
      const { charged, seen } = await make({ duration_seconds });
      expect(charged).toBe(15_000n);
      expect(jsonSeen(seen)).toEqual({
        model_id: 'eleven_text_to_sound_v2',
        text: 'rain',
        duration_seconds: 5,
      });
    }
  });

  it.each([2, 5.5, 30])(
    'bills 5 s asked for where %d s come back (SFX-34, G-21)',
    async (seconds) => {
      harness.provider.reply = (response) => response.end(pcmOf(seconds));
      const { answer, charged } = await make({ duration_seconds: 5, response_format: 'pcm' });
      expect(audioSeconds(answer, 'pcm')).toBe(seconds);
      expect(charged).toBe(15_000n);
    },
  );

  it.each([0.49, 30.01, 0, -1, '5', true, [5], 1e300])(
    'refuses the duration %j (SFX-22, LIMIT-07)',
    async (seconds) => {
      await harness.refusesField(SOUND_EFFECTS, 'duration_seconds', seconds);
    },
  );

  it('takes a prompt of 1,000 code points, not one more (SFX-23, LIMIT-07)', async () => {
    const prompt = '\u{1f327}'.repeat(1_000);
    expect(jsonSeen((await make({ prompt })).seen).text).toBe(prompt);
    await harness.refusesField(SOUND_EFFECTS, 'prompt', `${prompt}x`);
  });

  it.each([undefined, null, '', ' \n\u3000', 5, ['rain'], 'a\u0000'])(
    'refuses the prompt %j (SFX-24)',
    async (prompt) => {
      await harness.refusesField(SOUND_EFFECTS, 'prompt', prompt);
    },
  );

  provesFields(() => harness, SOUND_EFFECTS, [
    numberRule(
      'prompt_influence',
      'prompt_influence',
      [0, 1],
      [-0.01, 1.01],
      ['SFX-25', 'SFX-26', 'SFX-27'],
    ),
    flagRule('loop', 'loop', ['SFX-28', 'SFX-29']),
  ]);

  it.each([
    ['mp3', 'mp3_44100_128', 'audio/mpeg'],
    ['opus', 'opus_48000_128', 'audio/ogg'],
    ['pcm', 'pcm_24000', 'audio/pcm'],
    [undefined, 'mp3_44100_128', 'audio/mpeg'],
  ])('answers in the format %s (SFX-30, SFX-31)', async (format, asked, type) => {
    const { answer, seen } = await make({ response_format: format });
    expect(seen.url).toBe(`/v1/sound-generation?output_format=${asked}`);
    expect(answer.headers.get('content-type')).toBe(type);
  });

  it.each(['wav', 'flac', 1])('refuses the response_format %j (SFX-32)', async (format) => {
    await harness.refusesField(SOUND_EFFECTS, 'response_format', format);
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

  it.each<[number, ('mp3' | 'opus' | 'pcm') | undefined, string]>([
    [0.5, 'pcm', 'SFX-14'],
    [1, 'pcm', 'SFX-15'],
    [2.05, 'pcm', 'SFX-20, SFX-30'],
    [2.05, 'opus', 'SFX-30'],
    [2.05, 'mp3', 'SFX-30'],
    [2.05, undefined, 'SFX-31'],
  ])('of %d s lasts as long, as %s (%s)', async (duration_seconds, response_format) => {
    const fields = { duration_seconds, response_format };
    const answer = await call(SOUND_EFFECTS, gateway.url, account.headers, fields);
    // The last frame of an MP3 is completed with silence.
    expect(audioSeconds(answer, response_format)).toBeCloseTo(duration_seconds, 1);
  });
});
