import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postJson } from '../../support/http-answer.js';
import { paidSpeech } from '../../support/paid-speech.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

let gateway: GatewayFromOutside;

beforeAll(async () => {
  gateway = await sharedGateway();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('options', () => {
  const inSettings = (field: string, value: unknown) => ({ voice_settings: { [field]: value } });

  it.each<[string, unknown, string]>([
    ['speed', 0.7, 'SPEECH-45'],
    ['speed', 1.2, 'SPEECH-45'],
    ['stability', 0, 'SPEECH-51'],
    ['stability', 1, 'SPEECH-51'],
    ['similarity_boost', 0, 'SPEECH-54'],
    ['similarity_boost', 1, 'SPEECH-54'],
    ['style', 0, 'SPEECH-57'],
    ['style', 1, 'SPEECH-57'],
    ['use_speaker_boost', true, 'SPEECH-60'],
    ['use_speaker_boost', false, 'SPEECH-60'],
  ])('%s = %s reaches the provider as it is (%s)', async (field, value) => {
    const { upstream } = await paidSpeech(gateway, { [field]: value });
    expect(upstream.body).toEqual({
      model_id: 'eleven_v4',
      text: 'Hello',
      ...inSettings(field, value),
    });
  });

  it.each<[string, unknown, string, string]>([
    ['language', 'en', 'language_code', 'SPEECH-48'],
    ['language', 'fil', 'language_code', 'SPEECH-48'],
    ['language', 'eng', 'language_code', 'SPEECH-48'],
    ['seed', 0, 'seed', 'SPEECH-62'],
    ['seed', 4_294_967_295, 'seed', 'SPEECH-62'],
    ['apply_text_normalization', 'auto', 'apply_text_normalization', 'SPEECH-69'],
    ['apply_text_normalization', 'on', 'apply_text_normalization', 'SPEECH-69'],
    ['apply_text_normalization', 'off', 'apply_text_normalization', 'SPEECH-69'],
  ])('%s = %s reaches the provider as %s (%s)', async (field, value, wireField) => {
    const { upstream } = await paidSpeech(gateway, { [field]: value });
    expect(upstream.body).toEqual({ model_id: 'eleven_v4', text: 'Hello', [wireField]: value });
  });

  it('send every option at once to the provider, each where it belongs', async () => {
    const settings = {
      stability: 0.25,
      similarity_boost: 0.5,
      style: 0.75,
      use_speaker_boost: true,
      speed: 1.1,
    };
    const rest = { seed: 9, previous_text: 'Before.', next_text: 'After.' };
    const { upstream } = await paidSpeech(gateway, {
      ...settings,
      ...rest,
      language: 'en',
      apply_text_normalization: 'on',
      response_format: 'wav',
    });
    expect(upstream.query).toEqual({ output_format: 'wav_44100' });
    expect(upstream.body).toEqual({
      model_id: 'eleven_v4',
      text: 'Hello',
      language_code: 'en',
      voice_settings: settings,
      ...rest,
      apply_text_normalization: 'on',
    });
  });

  it('run each model on its own upstream model (CONV-14)', async () => {
    const used = new Map<string, unknown>();
    for (const model of ['aud-v4', 'aud-v3', 'aud-multilingual-v2', 'aud-flash-v2.5']) {
      used.set(model, (await paidSpeech(gateway, { model })).upstream.body.model_id);
    }
    expect(Object.fromEntries(used)).toEqual({
      'aud-v4': 'eleven_v4',
      'aud-v3': 'eleven_v3',
      'aud-multilingual-v2': 'eleven_multilingual_v2',
      'aud-flash-v2.5': 'eleven_flash_v2_5',
    });
  });

  it('that are null count as left out (CONV-13, G-03)', async () => {
    const nothing = Object.fromEntries(
      ['response_format', 'speed', 'language', 'seed', 'style', 'previous_text'].map((field) => [
        field,
        null,
      ]),
    );
    const { upstream } = await paidSpeech(gateway, nothing);
    expect(upstream.body).toEqual({ model_id: 'eleven_v4', text: 'Hello' });
  });

  it('of a whole seed may be written 1.0', async () => {
    const { headers } = await gateway.account();
    const text = '{"model":"aud-v4","input":"Hello","voice":"Adam","seed":1.0}';
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, text);
    expect(answer.status).toBe(200);
    const [upstream] = await gateway.upstreamRequests();
    expect(upstream?.body).toMatchObject({ seed: 1 });
  });
});
