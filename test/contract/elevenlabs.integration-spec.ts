import { expect } from '@jest/globals';
import { audioOf, goodAudio, runsElevenLabs } from './elevenlabs-runs.js';
import { describePortContract, describeRequest } from './port-contract.js';
import type { SeenRequest } from '../support/stub-upstream.js';

const expectJson = (path: string, body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', path]);
  expect(request.headers['content-type']).toBe('application/json');
  expect(JSON.parse(request.body.toString())).toEqual(body);
};

describePortContract('ElevenLabs speech', {
  run: runsElevenLabs('speech', async (port, context) =>
    audioOf(await port.speak({ text: ' Hi \n', voiceId: 'v1', format: 'mp3' }, context)),
  ),
  good: goodAudio('mp3'),
  expectRequest: expectJson('/v1/text-to-speech/v1?output_format=mp3_44100_128', {
    model_id: 'upstream-model',
    text: ' Hi \n',
  }),
});

describeRequest('ElevenLabs speech with every field', {
  run: runsElevenLabs('speech', async (port, context) =>
    audioOf(
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
  good: goodAudio('wav'),
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
  run: runsElevenLabs('dialogue', async (port, context) => {
    const lines = [
      { text: 'One', voiceId: 'b' },
      { text: 'Two', voiceId: 'a' },
    ];
    const command = { lines, format: 'opus', stability: 0.5, language: 'en', seed: 7 } as const;
    return audioOf(await port.speakDialogue(command, context));
  }),
  good: goodAudio('opus'),
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
  run: runsElevenLabs('sound-effect', async (port, context) => {
    const command = { prompt: 'rain', durationSeconds: 2.5, format: 'pcm' } as const;
    return audioOf(await port.makeSound({ ...command, promptInfluence: 0, loop: true }, context));
  }),
  good: goodAudio('pcm'),
  expectRequest: expectJson('/v1/sound-generation?output_format=pcm_24000', {
    model_id: 'upstream-model',
    text: 'rain',
    duration_seconds: 2.5,
    prompt_influence: 0,
    loop: true,
  }),
});

describePortContract('ElevenLabs composition', {
  run: runsElevenLabs('composition', async (port, context) => {
    const command = { prompt: 'jazz', durationSeconds: 30, format: 'mp3' } as const;
    return audioOf(await port.compose({ ...command, lyrics: 'la', instrumental: true }, context));
  }),
  good: goodAudio('mp3'),
  expectRequest: expectJson('/v1/music?output_format=mp3_44100_128', {
    model_id: 'upstream-model',
    prompt: 'jazz',
    lyrics_text: 'la',
    music_length_ms: 30_000,
    force_instrumental: true,
  }),
});
