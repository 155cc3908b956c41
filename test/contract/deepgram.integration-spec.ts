import { afterAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deepgramPorts } from '../../src/providers/deepgram/deepgram-ports.js';
import { readBounded } from '../../src/providers/http/response-body.js';
import type { AudioFormat } from '../../src/providers/ports/audio.port.js';
import type { TranscriptionCommand } from '../../src/providers/ports/transcript.port.js';
import { SystemClock } from '../../src/common/time/clock.js';
import { HttpTransport } from '../../src/providers/http/http-transport.js';
import { type SeenRequest, StubUpstream } from '../support/stub-upstream.js';
import { AUDIO_SAMPLES } from './audio-samples.js';
import { describePortContract, describeRequest, type PortContract } from './port-contract.js';

/** The wire is that of `/v1/listen` and `/v1/speak` of Deepgram's public API reference. */
const MAX_BYTES = 1_000_000;
const KEY = 'Token sk-upstream-secret-4711';

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

const queryOf = ({ url }: SeenRequest) =>
  Object.fromEntries(new URL(url, 'http://localhost').searchParams);

const transcribes = (command: Omit<TranscriptionCommand, 'media'>): PortContract['run'] => {
  return (access, context) =>
    deepgramPorts(access).transcription!.transcribe({ media, ...command }, context);
};
const expectQuery =
  (query: Record<string, string>): PortContract['expectRequest'] =>
  (request: SeenRequest) => {
    expect([request.method, request.url.split('?')[0]]).toEqual(['POST', '/v1/listen']);
    expect(queryOf(request)).toEqual({ model: 'upstream-model', smart_format: 'true', ...query });
    expect(request.headers).toMatchObject({
      authorization: KEY,
      'content-type': 'audio/mpeg',
      'content-length': '200000',
    });
    expect(request.body.equals(recording)).toBe(true);
  };
const metadata = {
  transaction_key: 'deprecated',
  request_id: '28cd0f11-6b33-4fcb-8f1f-1c2d1a5ef7a1',
  sha256: '5324da68ede209a16ac69a38e8cd29cee4d754434a041166cda3a1f5e0b24566',
  created: '2026-11-20T22:07:39.160Z',
  duration: 2.5,
  channels: 1,
};
const wordsOf = (speaker?: number) => [
  {
    word: 'hello',
    start: 0.08,
    end: 0.64,
    confidence: 0.98,
    punctuated_word: 'Hello,',
    ...(speaker !== undefined && { speaker, speaker_confidence: 0.7 }),
  },
  {
    word: 'you',
    start: 0.64,
    end: 1.2,
    confidence: 0.99,
    punctuated_word: 'you.',
    ...(speaker !== undefined && { speaker, speaker_confidence: 0.7 }),
  },
];
const answerOf = (channel: object, words: object[], more = {}) => ({
  metadata,
  results: {
    channels: [
      { alternatives: [{ transcript: 'Hello, you.', confidence: 0.98, words }], ...channel },
    ],
    ...more,
  },
});
const json = (answer: object, result: object) => ({
  type: 'application/json',
  body: Buffer.from(JSON.stringify(answer)),
  result: {
    text: 'Hello, you.',
    language: 'en',
    languageProbability: null,
    srt: null,
    providerRequestId: metadata.request_id,
    ...result,
  },
});
const heard = (speaker: string | null) => [
  { text: 'Hello,', type: 'word', start: 0.08, end: 0.64, speaker },
  { text: ' ', type: 'spacing', start: null, end: null, speaker: null },
  { text: 'you.', type: 'word', start: 0.64, end: 1.2, speaker },
];

describePortContract('Deepgram transcription', {
  run: transcribes({ temperature: 0.2 }),
  good: json(answerOf({ detected_language: 'en', language_confidence: 0.97 }, wordsOf()), {
    languageProbability: 0.97,
    words: heard(null),
  }),
  expectRequest: expectQuery({ detect_language: 'true' }),
});
describeRequest('Deepgram transcription of a language, without times', {
  run: transcribes({ language: 'en', timestamps: 'none' }),
  good: json(answerOf({}, wordsOf()), { words: [] }),
  expectRequest: expectQuery({ language: 'en' }),
});
describeRequest('Deepgram transcription of speakers', {
  run: transcribes({ language: 'en', diarize: true, timestamps: 'word' }),
  good: json(answerOf({}, wordsOf(0)), { words: heard('speaker_0') }),
  expectRequest: expectQuery({ language: 'en', diarize: 'true' }),
});
describeRequest('Deepgram transcription with subtitles', {
  run: transcribes({ language: 'en', subtitles: true }),
  good: json(
    answerOf({}, wordsOf(1), {
      utterances: [
        {
          start: 0.08,
          end: 3_661.5,
          confidence: 0.98,
          channel: 0,
          transcript: 'Hello, you.',
          words: wordsOf(1),
          speaker: 1,
          id: 'd0d1a2b3',
        },
      ],
    }),
    {
      words: heard(null),
      srt: '1\n00:00:00,080 --> 01:01:01,500\n[speaker_1] Hello, you.\n',
    },
  ),
  expectRequest: expectQuery({ language: 'en', diarize: 'true', utterances: 'true' }),
});

describe('the id in an answer of Deepgram', () => {
  it.each([
    ['has a zero', 'a\u0000b'],
    ['is long', 'a'.repeat(201)],
    ['has the key', 'sk-upstream-secret-4711'],
    ['is a number', 7],
  ])('is not kept where it %s', async (_what, id) => {
    const stub = await StubUpstream.start();
    const transport = new HttpTransport(2_000);
    const answer = { ...answerOf({}, []), metadata: { ...metadata, request_id: id } };
    stub.reply = (response) => response.end(JSON.stringify(answer));
    const apiKey = 'sk-upstream-secret-4711';
    const access = { id: 'acme', baseUrl: stub.url, apiKey, transport, clock: new SystemClock() };
    const { signal } = new AbortController();
    const context = { upstreamModel: 'm', signal };
    const result = await deepgramPorts(access).transcription!.transcribe({ media }, context);
    expect(result).toMatchObject({ text: 'Hello, you.', providerRequestId: null });
    await transport.close();
    await stub.stop();
  });
});

describe('the settings of a row for Deepgram', () => {
  it('stand in the query, a list as one setting for each entry', async () => {
    const stub = await StubUpstream.start();
    const transport = new HttpTransport(2_000);
    stub.reply = (response) => response.end(JSON.stringify(answerOf({}, [])));
    const access = { id: 'acme', baseUrl: stub.url, transport, clock: new SystemClock() };
    const { signal } = new AbortController();
    const terms = {
      constants: { keyterm: ['a b', 'c'], mip_opt_out: true },
      drop: ['smart_format'],
    };
    await deepgramPorts(access).transcription!.transcribe(
      { media, language: 'en' },
      { upstreamModel: 'm', signal, terms },
    );
    expect(stub.only.url).toBe(
      '/v1/listen?model=m&language=en&keyterm=a+b&keyterm=c&mip_opt_out=true',
    );
    await transport.close();
    await stub.stop();
  });
});

describe('a Deepgram route of transcriptions', () => {
  it.each<[string, Omit<TranscriptionCommand, 'media'>, string[]]>([
    ['words, speakers and subtitles', { timestamps: 'word', diarize: true, subtitles: true }, []],
    ['a language of two letters', { language: 'de' }, []],
    ['a language of three letters', { language: 'deu' }, ['language']],
    ['a number of speakers', { numSpeakers: 2 }, ['num_speakers']],
    ['tagged sounds', { tagAudioEvents: true }, ['tag_audio_events']],
  ])('of %s: %j lacks %j', (_what, command, lacking) => {
    const { transcription } = deepgramPorts({ id: 'acme', baseUrl: 'http://localhost' } as never);
    expect(transcription!.lacks!({ media, ...command }, 'nova-3')).toEqual(lacking);
  });
});

const speaks = (format: AudioFormat): PortContract['run'] => {
  return async (access, context) => {
    const command = { text: 'Hé, you.', voiceId: 'thalia-en', format, speed: 1.1, stability: 0.3 };
    const { body, providerRequestId } = await deepgramPorts(access).speech!.speak(command, context);
    return { bytes: (await readBounded(body, MAX_BYTES)).length, providerRequestId };
  };
};
const spoken = (format: AudioFormat) => ({
  type: 'audio/mpeg',
  body: AUDIO_SAMPLES[format],
  result: { bytes: AUDIO_SAMPLES[format].length, providerRequestId: null },
});
const expectSpeech =
  (query: Record<string, string>): PortContract['expectRequest'] =>
  (request: SeenRequest) => {
    expect([request.method, request.url.split('?')[0]]).toEqual(['POST', '/v1/speak']);
    expect(request.headers.authorization).toBe(KEY);
    expect(queryOf(request)).toEqual({ model: 'upstream-model-thalia-en', ...query });
    expect(JSON.parse(request.body.toString())).toEqual({ text: 'Hé, you.' });
  };

describePortContract('Deepgram speech', {
  run: speaks('mp3'),
  good: spoken('mp3'),
  expectRequest: expectSpeech({ encoding: 'mp3' }),
});
for (const [format, query] of [
  ['opus', { encoding: 'opus', container: 'ogg' }],
  ['pcm', { encoding: 'linear16', container: 'none', sample_rate: '24000' }],
  ['wav', { encoding: 'linear16', container: 'wav', sample_rate: '24000' }],
] as const) {
  describeRequest(`Deepgram speech as ${format}`, {
    run: speaks(format),
    good: spoken(format),
    expectRequest: expectSpeech(query),
  });
}
