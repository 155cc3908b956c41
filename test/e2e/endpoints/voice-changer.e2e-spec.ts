import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { wavFile } from '../../media/wav-file.js';
import { AudioHarness } from '../../support/audio-harness.js';
import { VOICE_CHANGER } from '../../support/audio-operations.js';
import { flagRule, numberRule, provesFields } from '../../support/field-rules.js';
import { postJson } from '../../support/http-answer.js';
import { formSeen } from '../../support/stub-provider.js';

const ADAM = 'pNInz6obpgDQGcFmaJgB';

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

const zeroToOne = [0, 1] as const;
const outsideOne = [-0.01, 1.01] as const;

describe('POST /v1/audio/voice-changer', () => {
  it.each([
    ['aud-multilingual-sts-v2', 'eleven_multilingual_sts_v2'],
    ['aud-english-sts-v2', 'eleven_english_sts_v2'],
  ])('runs %s as %s (VC-30)', async (model, upstreamModel) => {
    const { seen } = await harness.charges(VOICE_CHANGER, () =>
      harness.call(VOICE_CHANGER, { model }),
    );
    expect((await formSeen(seen)).fields).toEqual({ model_id: upstreamModel });
  });

  it.each([
    [12_340, 39_000n],
    [300_000, 900_000n],
    [400, 3_000n],
  ])('bills %d ms %d micro-USD (VC-31)', async (milliseconds, price) => {
    const file = wavFile(milliseconds, 1_000, 8);
    const { charged } = await harness.charges(VOICE_CHANGER, () =>
      harness.call(VOICE_CHANGER, {}, file),
    );
    expect(charged).toBe(price);
  });

  it.each([undefined, null, '', 'alloy', 'Nobody', 'Adam ', 5, ['Adam']])(
    'refuses the voice %j (VC-32)',
    async (voice) => {
      await harness.refusesField(VOICE_CHANGER, 'voice', voice);
    },
  );

  it.each(['Adam', 'adam', 'ADAM', ADAM, ADAM.toLowerCase()])(
    'finds the voice %s (VC-33)',
    async (voice) => {
      const { seen } = await harness.charges(VOICE_CHANGER, () =>
        harness.call(VOICE_CHANGER, { voice }),
      );
      expect(seen.url).toBe(`/v1/speech-to-speech/${ADAM}?output_format=mp3_44100_128`);
    },
  );

  provesFields(() => harness, VOICE_CHANGER, [
    numberRule('stability', 'voice_settings.stability', zeroToOne, outsideOne, [
      'VC-34',
      'VC-35',
      'VC-36',
    ]),
    numberRule('similarity_boost', 'voice_settings.similarity_boost', zeroToOne, outsideOne, [
      'VC-37',
      'VC-38',
      'VC-39',
    ]),
    numberRule('style', 'voice_settings.style', zeroToOne, outsideOne, ['VC-40', 'VC-41', 'VC-42']),
    flagRule('use_speaker_boost', 'voice_settings.use_speaker_boost', ['VC-43', 'VC-44']),
    flagRule('remove_background_noise', 'remove_background_noise', ['VC-45', 'VC-46']),
    numberRule(
      'seed',
      'seed',
      [0, 4_294_967_295],
      [-1, 4_294_967_296],
      ['VC-47', 'VC-48', 'VC-49'],
      [1.5, '1', true],
    ),
  ]);

  it.each(['1.0', '1e0', '10E-1'])(
    'takes the integral %s for a seed of 1 (VC-49)',
    async (seed) => {
      const fields = `"model":"aud-english-sts-v2","voice":"Adam","audio_url":"${harness.host.url}"`;
      const send = () =>
        postJson(harness.url(VOICE_CHANGER), harness.account.headers, `{${fields},"seed":${seed}}`);
      const { seen } = await harness.charges(VOICE_CHANGER, send);
      expect((await formSeen(seen)).fields.seed).toBe('1');
    },
  );

  it.each([
    ['mp3', 'mp3_44100_128', 'audio/mpeg'],
    ['opus', 'opus_48000_128', 'audio/ogg'],
    ['pcm', 'pcm_24000', 'audio/pcm'],
    ['wav', 'wav_44100', 'audio/wav'],
    [undefined, 'mp3_44100_128', 'audio/mpeg'],
  ])('answers in the format %s (VC-50, VC-51, VC-53)', async (format, asked, type) => {
    const { answer, seen } = await harness.charges(VOICE_CHANGER, () =>
      harness.call(VOICE_CHANGER, { response_format: format }),
    );
    expect(seen.url).toContain(`output_format=${asked}`);
    expect(answer.headers.get('content-type')).toBe(type);
  });

  it.each(['flac', 1, 'MP3', ''])('refuses the response_format %j (VC-52)', async (format) => {
    await harness.refusesField(VOICE_CHANGER, 'response_format', format);
  });
});
