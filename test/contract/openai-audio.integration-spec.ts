import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from '@jest/globals';
import { openAiPorts } from '../../src/providers/openai/openai-ports.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import type { AudioFormat } from '../../src/providers/ports/audio.port.js';
import type { TranscriptionCommand } from '../../src/providers/ports/transcript.port.js';
import type { SeenRequest } from '../support/stub-upstream.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { sentForm } from './form-data.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

/** The wire is that of `/v1/audio/speech` and `/v1/audio/transcriptions` of OpenAI's public API reference. */
const MAX_BYTES = 1_000_000;

const speaks = (format: AudioFormat, speed?: number): PortContract['run'] => {
  return async (access, context) => {
    const command = { text: 'Hé, you.', voiceId: 'coral', format, speed, stability: 0.3, seed: 7 };
    const { body, providerRequestId } = await openAiPorts(access).speech!.speak(command, context);
    return { bytes: (await readBounded(body, MAX_BYTES)).length, providerRequestId };
  };
};
const spoken = (format: AudioFormat) => ({
  type: 'audio/mpeg',
  body: AUDIO_SAMPLES[format],
  result: { bytes: AUDIO_SAMPLES[format].length, providerRequestId: null },
});
const expectSpeech =
  (fields: object): PortContract['expectRequest'] =>
  (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', '/audio/speech']);
    expect(request.headers.authorization).toBe('Bearer sk-upstream-secret-4711');
    const sent = { model: 'upstream-model', input: 'Hé, you.', voice: 'coral' };
    expect(JSON.parse(request.body.toString())).toEqual({ ...sent, ...fields });
  };

describePortContract('OpenAI speech', {
  run: speaks('mp3', 1.1),
  good: spoken('mp3'),
  expectRequest: expectSpeech({ response_format: 'mp3', speed: 1.1 }),
});
for (const format of ['opus', 'wav', 'pcm'] as const) {
  describeRequest(`OpenAI speech as ${format}`, {
    run: speaks(format),
    good: spoken(format),
    expectRequest: expectSpeech({ response_format: format }),
  });
}

const folder = mkdtempSync(join(tmpdir(), 'contract-'));
const recording = randomBytes(200_000);
const media = {
  path: join(folder, 'recording'),
  sizeBytes: recording.length,
  filename: 'audio.mp3',
  contentType: 'audio/mpeg',
};
writeFileSync(media.path, recording);
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const transcribes = (command: Omit<TranscriptionCommand, 'media'>): PortContract['run'] => {
  return (access, context) =>
    openAiPorts(access).transcription!.transcribe({ media, ...command }, context);
};
const json = (answer: object, result: object) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(answer)),
  result: { languageProbability: null, srt: null, providerRequestId: null, ...result },
});
const expectForm =
  (fields: Record<string, string>): PortContract['expectRequest'] =>
  async (request: SeenRequest) => {
    expect([request.method, request.url]).toEqual(['POST', '/audio/transcriptions']);
    const form = await sentForm(request);
    expect(form.fields).toEqual({ model: 'upstream-model', ...fields });
    expect(form.file).toMatchObject({ field: 'file', filename: 'audio.mp3' });
    expect(form.file!.bytes.equals(recording)).toBe(true);
  };
const word = (text: string, start: number | null, end: number | null, speaker: string | null) => ({
  text,
  type: 'word',
  start,
  end,
  speaker,
});
const space = { text: ' ', type: 'spacing', start: null, end: null, speaker: null };

describePortContract('OpenAI transcription', {
  run: transcribes({ language: 'de', temperature: 0.2, tagAudioEvents: true, numSpeakers: 2 }),
  good: json(
    { text: 'Guten Tag.', usage: { type: 'duration', seconds: 3 } },
    { text: 'Guten Tag.', language: null, words: [] },
  ),
  expectRequest: expectForm({ response_format: 'json', language: 'de', temperature: '0.2' }),
});

const segments = [
  { id: 0, start: 0, end: 1.25, text: ' Hello there.' },
  { id: 1, start: 3_661.5, end: 3_662, text: ' Bye.' },
];
describeRequest('OpenAI transcription with times', {
  run: transcribes({ timestamps: 'word' }),
  good: json(
    {
      task: 'transcribe',
      language: 'english',
      duration: 2,
      text: 'Hello there.',
      words: [
        { word: 'Hello', start: 0, end: 0.5 },
        { word: 'there', start: 0.6, end: 1.25 },
      ],
    },
    {
      text: 'Hello there.',
      language: 'english',
      words: [word('Hello', 0, 0.5, null), space, word('there', 0.6, 1.25, null)],
    },
  ),
  expectRequest: expectForm({
    response_format: 'verbose_json',
    'timestamp_granularities[]': 'word',
  }),
});

describeRequest('OpenAI transcription with subtitles', {
  run: transcribes({ subtitles: true }),
  good: json(
    {
      task: 'transcribe',
      language: 'english',
      duration: 3_662,
      text: 'Hello there. Bye.',
      segments,
    },
    {
      text: 'Hello there. Bye.',
      language: 'english',
      words: [
        word('Hello', 0, null, null),
        space,
        word('there.', null, 1.25, null),
        space,
        word('Bye.', 3_661.5, 3_662, null),
      ],
      srt: '1\n00:00:00,000 --> 00:00:01,250\nHello there.\n\n2\n01:01:01,500 --> 01:01:02,000\nBye.\n',
    },
  ),
  expectRequest: expectForm({ response_format: 'verbose_json' }),
});

describeRequest('OpenAI transcription of several speakers', {
  run: transcribes({ diarize: true, subtitles: true }),
  good: json(
    {
      task: 'transcribe',
      duration: 2,
      text: 'Hello. Hi you.',
      segments: [
        {
          type: 'transcript.text.segment',
          id: 's1',
          start: 0,
          end: 1,
          speaker: 'A',
          text: 'Hello.',
        },
        {
          type: 'transcript.text.segment',
          id: 's2',
          start: 1,
          end: 2,
          speaker: 'B',
          text: 'Hi you.',
        },
      ],
    },
    {
      text: 'Hello. Hi you.',
      language: null,
      words: [
        word('Hello.', 0, 1, 'A'),
        space,
        word('Hi', 1, null, 'B'),
        space,
        word('you.', null, 2, 'B'),
      ],
      srt: '1\n00:00:00,000 --> 00:00:01,000\n[A] Hello.\n\n2\n00:00:01,000 --> 00:00:02,000\n[B] Hi you.\n',
    },
  ),
  expectRequest: expectForm({ response_format: 'diarized_json', chunking_strategy: 'auto' }),
});
