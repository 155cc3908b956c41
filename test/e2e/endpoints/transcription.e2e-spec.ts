import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import { call, TRANSCRIPTION } from '../../support/audio-operations.js';
import { flagRule, numberRule, provesFields } from '../../support/field-rules.js';
import { startTestGateway } from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { formSeen } from '../../support/stub-provider.js';

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

const transcribe = (fields: object = {}) =>
  harness.charges(TRANSCRIPTION, () => harness.postJson(TRANSCRIPTION, fields));

async function viewOf(fields: object): Promise<Record<string, unknown>> {
  return (await transcribe(fields)).answer.json as Record<string, unknown>;
}

describe('POST /v1/audio/transcriptions', () => {
  it('sends the provider only requested fields (STT-30, STT-32)', async () => {
    const { seen } = await transcribe();
    expect(seen.url).toBe('/v1/speech-to-text');
    expect((await formSeen(seen)).fields).toEqual({ model_id: 'scribe_v2' });
  });

  it.each(['en', 'eng'])('sends the language %s on (STT-33)', async (language) => {
    const { seen } = await transcribe({ language });
    expect((await formSeen(seen)).fields.language_code).toBe(language);
  });

  it.each(['EN', 'english', '', 5])('refuses the language %j (STT-33)', async (language) => {
    await harness.refusesField(TRANSCRIPTION, 'language', language);
  });

  provesFields(() => harness, TRANSCRIPTION, [
    flagRule('diarize', 'diarize', ['STT-34', 'STT-35']),
    numberRule(
      'num_speakers',
      'num_speakers',
      [1, 32],
      [0, 33],
      ['STT-36', 'STT-37', 'STT-38'],
      [1.5, '1', true],
    ),
    flagRule('tag_audio_events', 'tag_audio_events', ['STT-39', 'STT-40']),
    flagRule('subtitles', undefined, ['STT-43', 'STT-44']),
    numberRule('temperature', 'temperature', [0, 2], [-0.1, 2.1], ['STT-45', 'STT-46', 'STT-47']),
  ]);

  it('takes an integral 1.0 for num_speakers (STT-38)', async () => {
    const body = `{"model":"aud-transcribe-v2","audio_url":"${harness.host.url}","num_speakers":1.0}`;
    const send = () => postJson(harness.url(TRANSCRIPTION), harness.account.headers, body);
    const { seen } = await harness.charges(TRANSCRIPTION, send);
    expect((await formSeen(seen)).fields.num_speakers).toBe('1');
  });

  it.each([
    ['none', 'none'],
    ['word', 'word'],
    ['character', 'word'],
  ])('asks the provider for timestamps %s as %s (STT-41)', async (timestamps, told) => {
    const { seen } = await transcribe({ timestamps });
    expect((await formSeen(seen)).fields.timestamps_granularity).toBe(told);
  });

  it.each<[string, unknown, string]>([
    ['timestamps', 'words', 'STT-42'],
    ['timestamps', 'segment', 'STT-42'],
    ['timestamps', 1, 'STT-42'],
    ['response_format', 'text', 'STT-50'],
    ['response_format', 'srt', 'STT-50'],
    ['response_format', 'vtt', 'STT-50'],
    ['response_format', 1, 'STT-50'],
    ['timestamp_granularities[]', ['letter'], 'STT-72'],
    ['timestamp_granularities', 'word', 'STT-72'],
    ['timestamp_granularities', ['word', 1], 'STT-72'],
    ['prompt', 'Names: Shim', 'STT-72'],
    ['stream', true, 'STT-72'],
  ])('refuses %s = %j (%s)', async (field, value) => {
    await harness.refusesField(TRANSCRIPTION, field, value);
  });

  it.each<[string, string, string | undefined, boolean, string]>([
    ['omitted', 'json', undefined, false, 'STT-52'],
    ['omitted', 'verbose_json', undefined, true, 'STT-53'],
    ['none', 'json', 'none', false, 'STT-54'],
    ['none', 'verbose_json', 'none', false, 'STT-55'],
    ['word', 'json', 'word', true, 'STT-56'],
    ['word', 'verbose_json', 'word', true, 'STT-57'],
    ['character', 'json', 'character', true, 'STT-58, STT-60'],
    ['character', 'verbose_json', 'character', true, 'STT-59, STT-60'],
  ])(
    'with timestamps %s and %s answers the one JSON shape, words or not (%s %s %s, STT-48, STT-51)',
    async (_named, response_format, timestamps, hasWords) => {
      const { answer } = await transcribe({ response_format, timestamps });
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const { words, segments, ...rest } = answer.json as Record<string, unknown>;
      const isVerbose = response_format === 'verbose_json';
      expect(segments !== undefined).toBe(isVerbose && hasWords);
      expect(rest).toEqual({
        ...(isVerbose && { task: 'transcribe', duration: 10 }),
        text: 'Hi there',
        language: 'eng',
        language_probability: 0.9,
        duration_seconds: 10,
      });
      expect('words' in (answer.json as object)).toBe(hasWords);
      if (hasWords) expect(words).toHaveLength(3);
    },
  );

  it('is json by default (STT-49)', async () => {
    expect(await viewOf({})).toEqual(await viewOf({ response_format: 'json' }));
  });

  it('names speakers only when diarize is on (STT-61, STT-70, G-46)', async () => {
    const word = { text: 'Hi', word: 'Hi', type: 'word', start: 0, end: 0.4 };
    const named = await viewOf({ timestamps: 'word', diarize: true });
    expect((named.words as unknown[])[0]).toEqual({ ...word, speaker: 'speaker_0' });
    for (const fields of [{}, { diarize: false }, { subtitles: true }]) {
      const plain = await viewOf({ timestamps: 'word', ...fields });
      expect((plain.words as unknown[])[0]).toEqual({ ...word, speaker: null });
    }
  });

  it('adds subtitles, and words only if they are requested too (STT-62, STT-63, G-46)', async () => {
    const { answer, seen } = await transcribe({ subtitles: true });
    const view = answer.json as Record<string, unknown>;
    expect(view.srt).toMatch(/^1\n/);
    expect(view).not.toHaveProperty('words');
    expect((await formSeen(seen)).fields).toMatchObject({
      diarize: 'true',
      timestamps_granularity: 'word',
    });
    const both = await viewOf({ subtitles: true, timestamps: 'word' });
    expect(Object.keys(both)).toEqual(expect.arrayContaining(['words', 'srt']));
  });

  it.each([false, undefined])('has no srt with subtitles %j (STT-64)', async (subtitles) => {
    expect(await viewOf({ subtitles })).not.toHaveProperty('srt');
  });

  it.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('costs the same with subtitles %j and diarize %j (STT-65)', async (subtitles, diarize) => {
    expect((await transcribe({ subtitles, diarize })).charged).toBe(920n);
  });

  it('passes on null where the provider says nothing (STT-67, STT-68, STT-70)', async () => {
    harness.provider.reply = (response) =>
      response.end(JSON.stringify({ text: '', words: [{ text: 'a', type: 'audio_event' }] }));
    const view = await viewOf({ timestamps: 'word' });
    expect(view).toEqual({
      text: '',
      language: null,
      language_probability: null,
      duration_seconds: 10,
      words: [{ text: 'a', word: 'a', type: 'audio_event', start: null, end: null, speaker: null }],
    });
  });

  it('transcribes the speech of the gateway to its text (STT-32, STT-66, STT-69, STT-71, G-28)', async () => {
    const gateway = await startTestGateway();
    const { accountId, headers } = await gateway.account();
    const input = 'Hello there, this is Shim speaking.';
    const speech = { model: 'aud-v4', input, voice: 'Adam', response_format: 'wav' };
    const spoken = await postJson(`${gateway.url}/v1/audio/speech`, headers, speech);
    const before = await gateway.balance(accountId);
    const fields = { timestamps: 'word', subtitles: true };
    const answer = await call(TRANSCRIPTION, gateway.url, headers, fields, spoken.bytes);
    const view = answer.json as Record<string, unknown>;
    expect(view).toMatchObject({ text: input, language: 'eng' });
    expect(view.duration_seconds).toBeCloseTo((spoken.bytes.length - 44) / 88_200, 1);
    expect(view.srt).toMatch(/^1\r?\n00:00:00,\d{3} --> 00:00:\d\d,\d{3}\r?\n/);
    const charge = before.available - (await gateway.balance(accountId)).available;
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(charge.toString());
    await gateway.expectCleanBooks();
    await gateway.stop();
  });
});
