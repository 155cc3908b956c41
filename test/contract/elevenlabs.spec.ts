import type { Operation } from '../../src/providers/ports/operation.js';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { elevenLabsPorts } from '../../src/providers/elevenlabs/elevenlabs-ports.js';
import { readBounded } from '../../src/providers/http/bounded-body.js';
import type { AttemptContext } from '../../src/providers/ports/attempt-context.js';
import type { ProviderAudio } from '../../src/providers/ports/provider-audio.js';
import type { PortByOperation } from '../../src/providers/ports/provider-ports.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';
import type { SeenRequest } from '../support/stub-upstream.js';

const folder = mkdtempSync(join(tmpdir(), 'contract-'));
const recording = randomBytes(300_000);
const media = {
  path: join(folder, 'recording'),
  sizeBytes: recording.length,
  filename: 'audio "1".mp3',
  contentType: 'audio/mpeg',
};
writeFileSync(media.path, recording);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const bytesOf = async ({ body }: ProviderAudio): Promise<Buffer> => readBounded(body, 1_000_000);
const audio = (format: keyof typeof AUDIO_SAMPLES): PortContract['good'] => ({
  type: 'audio/mpeg',
  body: AUDIO_SAMPLES[format],
  result: AUDIO_SAMPLES[format],
});

/** Runs one operation of a provider with this protocol. */
const runs =
  <O extends Operation>(
    operation: O,
    call: (port: PortByOperation[O], context: AttemptContext) => Promise<unknown>,
  ): PortContract['run'] =>
  (access, context) =>
    call(elevenLabsPorts(access)[operation]!, context);

const expectJson = (path: string, body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', path]);
  expect(request.headers['content-type']).toBe('application/json');
  expect(JSON.parse(request.body.toString())).toEqual(body);
};

describePortContract('ElevenLabs speech', {
  run: runs('speech', async (port, context) =>
    bytesOf(await port.speak({ text: ' Hi \n', voiceId: 'v1', format: 'mp3' }, context)),
  ),
  good: audio('mp3'),
  expectRequest: expectJson('/v1/text-to-speech/v1?output_format=mp3_44100_128', {
    model_id: 'upstream-model',
    text: ' Hi \n',
  }),
});

describeRequest('ElevenLabs speech with every field', {
  run: runs('speech', async (port, context) =>
    bytesOf(
      await port.speak(
        {
          text: 'Hi',
          voiceId: 'v/1',
          format: 'wav',
          language: 'es',
          speed: 0.7,
          stability: 0,
          similarityBoost: 1,
          style: 0.5,
          useSpeakerBoost: false,
          seed: 0,
          previousText: 'before',
          nextText: 'after',
          applyTextNormalization: 'off',
        },
        context,
      ),
    ),
  ),
  good: audio('wav'),
  expectRequest: expectJson('/v1/text-to-speech/v%2F1?output_format=wav_44100', {
    model_id: 'upstream-model',
    text: 'Hi',
    language_code: 'es',
    voice_settings: {
      stability: 0,
      similarity_boost: 1,
      style: 0.5,
      use_speaker_boost: false,
      speed: 0.7,
    },
    seed: 0,
    previous_text: 'before',
    next_text: 'after',
    apply_text_normalization: 'off',
  }),
});

describePortContract('ElevenLabs dialogue', {
  run: runs('dialogue', async (port, context) => {
    const lines = [
      { text: 'One', voiceId: 'b' },
      { text: 'Two', voiceId: 'a' },
    ];
    const command = { lines, format: 'opus', stability: 0.5, language: 'en', seed: 7 } as const;
    return bytesOf(await port.speakDialogue(command, context));
  }),
  good: audio('opus'),
  expectRequest: expectJson('/v1/text-to-dialogue?output_format=opus_48000_128', {
    model_id: 'upstream-model',
    inputs: [
      { text: 'One', voice_id: 'b' },
      { text: 'Two', voice_id: 'a' },
    ],
    language_code: 'en',
    settings: { stability: 0.5 },
    seed: 7,
  }),
});

describePortContract('ElevenLabs sound effects', {
  run: runs('sound-effect', async (port, context) => {
    const command = { prompt: 'rain', durationSeconds: 2.5, format: 'pcm' } as const;
    return bytesOf(await port.makeSound({ ...command, promptInfluence: 0, loop: true }, context));
  }),
  good: audio('pcm'),
  expectRequest: expectJson('/v1/sound-generation?output_format=pcm_24000', {
    model_id: 'upstream-model',
    text: 'rain',
    duration_seconds: 2.5,
    prompt_influence: 0,
    loop: true,
  }),
});

describePortContract('ElevenLabs composition', {
  run: runs('composition', async (port, context) => {
    const command = { prompt: 'jazz', durationSeconds: 30, format: 'mp3' } as const;
    return bytesOf(await port.compose({ ...command, lyrics: 'la', instrumental: true }, context));
  }),
  good: audio('mp3'),
  expectRequest: expectJson('/v1/music?output_format=mp3_44100_128', {
    model_id: 'upstream-model',
    prompt: 'jazz',
    lyrics_text: 'la',
    music_length_ms: 30_000,
    force_instrumental: true,
  }),
});
