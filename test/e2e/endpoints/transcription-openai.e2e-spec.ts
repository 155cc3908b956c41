import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioHarness } from '../../support/audio-harness.js';
import { recordingForm, TEN_SECONDS, TRANSCRIPTION } from '../../support/audio-operations.js';
import { formSeen } from '../../support/stub-provider.js';

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

async function viewOf(fields: object): Promise<Record<string, unknown>> {
  const send = () => harness.postJson(TRANSCRIPTION, fields);
  return (await harness.charges(TRANSCRIPTION, send)).answer.json as Record<string, unknown>;
}

describe('a transcription as clients of the OpenAI API ask for it', () => {
  it('has the names of the OpenAI API in verbose_json, in the shape that its clients check', async () => {
    const view = await viewOf({ response_format: 'verbose_json', temperature: 0.5 });
    expect(view).toMatchObject({ task: 'transcribe', duration: 10, duration_seconds: 10 });
    const texts = (view.words as { text: string; word: string }[]).map(({ text, word }) => [
      text,
      word,
    ]);
    expect(texts).toEqual([
      ['Hi', 'Hi'],
      [' ', ' '],
      ['there', 'there'],
    ]);
    expect(view.segments).toEqual([
      {
        id: 0,
        start: 0,
        end: 0.9,
        text: 'Hi there',
        temperature: 0.5,
        seek: 0,
        tokens: [],
        avg_logprob: 0,
        compression_ratio: 1,
        no_speech_prob: 0,
      },
    ]);
  });

  it.each([
    ['json', ['word'], true, false],
    ['json', ['segment'], false, true],
    ['json', ['word', 'segment'], true, true],
    ['json', [], false, false],
    ['verbose_json', ['word'], true, true],
    ['verbose_json', ['segment'], false, true],
    ['verbose_json', [], true, true],
  ])(
    'with %s and timestamp_granularities %j has words %j and segments %j, in JSON and in a form (G-02)',
    async (response_format, granularities, hasWords, hasSegments) => {
      const form = recordingForm({ ...TRANSCRIPTION.body, response_format }, TEN_SECONDS);
      for (const one of granularities) form.append('timestamp_granularities[]', one);
      const sends = [
        () =>
          harness.postJson(TRANSCRIPTION, {
            response_format,
            timestamp_granularities: granularities,
          }),
        () =>
          harness.postJson(TRANSCRIPTION, {
            response_format,
            'timestamp_granularities[]': granularities,
          }),
        () => harness.postForm(TRANSCRIPTION, form),
      ];
      for (const send of sends) {
        const { answer, seen } = await harness.charges(TRANSCRIPTION, send);
        const view = answer.json as Record<string, unknown>;
        expect(['words' in view, 'segments' in view]).toEqual([hasWords, hasSegments]);
        const isTimed = granularities.length > 0 || response_format === 'verbose_json';
        const told = isTimed ? 'word' : undefined;
        expect((await formSeen(seen)).fields.timestamps_granularity).toBe(told);
      }
    },
  );

  it('does not take timestamps beside timestamp_granularities', async () => {
    for (const name of ['timestamp_granularities', 'timestamp_granularities[]']) {
      const both = () => harness.postJson(TRANSCRIPTION, { [name]: ['word'], timestamps: 'word' });
      await harness.refused(both, 400, 'invalid_request', name);
    }
  });

  it('accepts stream false, which is the default, in JSON and in a form', async () => {
    const form = recordingForm({ ...TRANSCRIPTION.body, stream: 'false' }, TEN_SECONDS);
    for (const send of [
      () => harness.postJson(TRANSCRIPTION, { stream: false }),
      () => harness.postForm(TRANSCRIPTION, form),
    ]) {
      const { seen } = await harness.charges(TRANSCRIPTION, send);
      expect((await formSeen(seen)).fields).toEqual({ model_id: 'scribe_v2' });
    }
  });
});
