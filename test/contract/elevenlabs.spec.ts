import { expect } from '@jest/globals';
import { classifyElevenLabsError } from '../../src/providers/elevenlabs/elevenlabs-error.js';
import { ElevenLabsSpeech } from '../../src/providers/elevenlabs/elevenlabs-speech.adapter.js';
import { readBounded } from '../../src/providers/http/bounded-body.js';
import type { ProviderAudio } from '../../src/providers/ports/provider-audio.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { describePortContract } from './port-contract.js';

const bytesOf = async ({ body }: ProviderAudio): Promise<Buffer> => readBounded(body, 1_000_000);
const audio = (format: keyof typeof AUDIO_SAMPLES) => ({
  type: 'audio/mpeg',
  body: AUDIO_SAMPLES[format],
  result: AUDIO_SAMPLES[format],
});
const json = (body: Buffer): unknown => JSON.parse(body.toString());

describePortContract('ElevenLabs speech', {
  classify: classifyElevenLabsError,
  run: async (http, context) =>
    bytesOf(
      await new ElevenLabsSpeech(http).speak(
        { text: ' Hi \n', voiceId: 'v1', format: 'mp3' },
        context,
      ),
    ),
  good: audio('mp3'),
  expectRequest: ({ method, url, headers, body }) => {
    expect([method, url]).toEqual(['POST', '/v1/text-to-speech/v1?output_format=mp3_44100_128']);
    expect(headers['content-type']).toBe('application/json');
    expect(json(body)).toEqual({ model_id: 'upstream-model', text: ' Hi \n' });
  },
});
