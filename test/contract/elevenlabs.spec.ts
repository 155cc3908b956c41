import type { Operation } from '../../src/providers/ports/operation.js';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { elevenLabsPorts } from '../../src/providers/elevenlabs/elevenlabs-ports.js';
import { readBounded } from '../../src/providers/http/bounded-body.js';
import type { CallContext } from '../../src/providers/ports/call-context.js';
import type { ProviderAudio } from '../../src/providers/ports/provider-audio.js';
import type { PortByOperation } from '../../src/providers/ports/provider-ports.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { formOf } from './form-data.js';
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

/** Runs one operation of a provider that speaks the protocol. */
const runs =
  <O extends Operation>(
    operation: O,
    call: (port: PortByOperation[O], context: CallContext) => Promise<unknown>,
  ): PortContract['run'] =>
  (access, context) =>
    call(elevenLabsPorts(access)[operation]!, context);

const expectJson = (path: string, body: object) => (request: SeenRequest) => {
  expect([request.method, request.url]).toEqual(['POST', path]);
  expect(request.headers['content-type']).toBe('application/json');
  expect(JSON.parse(request.body.toString())).toEqual(body);
};

const expectForm =
  (path: string, fileField: string, fields: Record<string, string>) =>
  async (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', path]);
    expect(request.headers['transfer-encoding']).toBeUndefined();
    const form = await formOf(request);
    expect(form.fields).toEqual(fields);
    const { bytes, ...file } = form.file!;
    expect({ ...file, isWhole: bytes.equals(recording) }).toEqual({
      field: fileField,
      filename: 'audio %221%22.mp3',
      contentType: media.contentType,
      isWhole: true,
    });
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

describePortContract('ElevenLabs voice changer', {
  run: runs('voice-change', async (port, context) => {
    const command = { media, voiceId: 'v1', format: 'mp3', stability: 1, seed: 9 } as const;
    return bytesOf(await port.changeVoice({ ...command, removeBackgroundNoise: true }, context));
  }),
  good: audio('mp3'),
  expectRequest: expectForm('/v1/speech-to-speech/v1?output_format=mp3_44100_128', 'audio', {
    model_id: 'upstream-model',
    voice_settings: '{"stability":1}',
    seed: '9',
    remove_background_noise: 'true',
  }),
});

describePortContract('ElevenLabs isolation', {
  run: runs('isolation', async (port, context) => bytesOf(await port.isolate({ media }, context))),
  good: audio('mp3'),
  expectRequest: expectForm('/v1/audio-isolation', 'audio', {}),
});

const words = [
  { text: 'Hé', start: 0.1, end: 0.4, loss: 0.2 },
  { text: '?', start: null, end: null, loss: null },
];
describePortContract('ElevenLabs alignment', {
  run: runs('alignment', (port, context) => port.align({ media, text: 'Hé?' }, context)),
  good: {
    type: 'application/json',
    body: Buffer.from(JSON.stringify({ characters: [], words, loss: 0.2 })),
    result: { words, loss: 0.2, providerRequestId: null },
  },
  expectRequest: expectForm('/v1/forced-alignment', 'file', { text: 'Hé?' }),
});

const transcript = {
  language_code: 'eng',
  language_probability: 0.98,
  text: 'Hello',
  words: [{ text: 'Hello', type: 'word', start: 0, end: 0.5, speaker_id: 'speaker_0', logprob: 0 }],
  additional_formats: [
    {
      requested_format: 'srt',
      is_base64_encoded: true,
      content: Buffer.from('1\n').toString('base64'),
    },
  ],
};
const transcribed = {
  text: 'Hello',
  language: 'eng',
  languageProbability: 0.98,
  providerRequestId: null,
};
describePortContract('ElevenLabs transcription', {
  run: runs('transcription', (port, context) =>
    port.transcribe({ media, diarize: true, numSpeakers: 2, timestamps: 'character' }, context),
  ),
  good: {
    type: 'application/json',
    body: Buffer.from(JSON.stringify(transcript)),
    result: {
      ...transcribed,
      words: [{ text: 'Hello', type: 'word', start: 0, end: 0.5, speaker: 'speaker_0' }],
      srt: null,
    },
  },
  expectRequest: expectForm('/v1/speech-to-text', 'file', {
    model_id: 'upstream-model',
    diarize: 'true',
    num_speakers: '2',
    timestamps_granularity: 'word',
  }),
});

describeRequest('ElevenLabs transcription with subtitles', {
  run: runs('transcription', (port, context) => {
    const options = { language: 'en', temperature: 0, tagAudioEvents: false, timestamps: 'none' };
    return port.transcribe({ media, subtitles: true, ...options } as never, context);
  }),
  good: {
    type: 'application/json',
    body: Buffer.from(JSON.stringify(transcript)),
    result: {
      ...transcribed,
      words: [{ text: 'Hello', type: 'word', start: 0, end: 0.5, speaker: null }],
      srt: '1\n',
    },
  },
  expectRequest: expectForm('/v1/speech-to-text', 'file', {
    model_id: 'upstream-model',
    language_code: 'en',
    diarize: 'true',
    tag_audio_events: 'false',
    timestamps_granularity: 'word',
    additional_formats: '[{"format":"srt","include_timestamps":true,"include_speakers":true}]',
    temperature: '0',
  }),
});
