import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { audioOf, goodAudio, runsElevenLabs } from './elevenlabs-runs.js';
import { sentForm } from './form-data.js';
import { describePortContract, describeRequest } from './port-contract.js';
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

const expectForm =
  (path: string, fileField: string, fields: Record<string, string>) =>
  async (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', path]);
    expect(request.headers['transfer-encoding']).toBeUndefined();
    const form = await sentForm(request);
    expect(form.fields).toEqual(fields);
    const { bytes, ...file } = form.file!;
    expect({ ...file, isWhole: bytes.equals(recording) }).toEqual({
      field: fileField,
      filename: 'audio %221%22.mp3',
      contentType: media.contentType,
      isWhole: true,
    });
  };

const words = [
  { text: 'Hé', start: 0.1, end: 0.4, loss: 0.2 },
  { text: '?', start: null, end: null, loss: null },
];

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

describePortContract('ElevenLabs voice changer', {
  run: runsElevenLabs('voice-change', async (port, context) => {
    const command = { media, voiceId: 'v1', format: 'mp3', stability: 1, seed: 9 } as const;
    return audioOf(await port.changeVoice({ ...command, removeBackgroundNoise: true }, context));
  }),
  good: goodAudio('mp3'),
  expectRequest: expectForm('/v1/speech-to-speech/v1?output_format=mp3_44100_128', 'audio', {
    model_id: 'upstream-model',
    voice_settings: '{"stability":1}',
    seed: '9',
    remove_background_noise: 'true',
  }),
});

describePortContract('ElevenLabs isolation', {
  run: runsElevenLabs('isolation', async (port, context) =>
    audioOf(await port.isolate({ media }, context)),
  ),
  good: goodAudio('mp3'),
  expectRequest: expectForm('/v1/audio-isolation', 'audio', {}),
});
describePortContract('ElevenLabs alignment', {
  run: runsElevenLabs('alignment', (port, context) => port.align({ media, text: 'Hé?' }, context)),
  good: {
    type: 'application/json',
    body: Buffer.from(JSON.stringify({ characters: [], words, loss: 0.2 })),
    result: { words, loss: 0.2, providerRequestId: null },
  },
  expectRequest: expectForm('/v1/forced-alignment', 'file', { text: 'Hé?' }),
});
describePortContract('ElevenLabs transcription', {
  run: runsElevenLabs('transcription', (port, context) =>
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
  run: runsElevenLabs('transcription', (port, context) => {
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
