import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { VOICES } from '../../../src/catalog/voices.js';
import { AudioHarness } from '../../support/audio-harness.js';
import { call, DIALOGUE } from '../../support/audio-operations.js';
import { audioSeconds } from '../../support/audio-seconds.js';
import { numberRule, provesFields } from '../../support/field-rules.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson } from '../../support/http-answer.js';
import { jsonSeen } from '../../support/stub-provider.js';

const ADAM = 'pNInz6obpgDQGcFmaJgB';
const line = (text: string, voice = 'Adam') => ({ text, voice });

let harness: AudioHarness;

beforeAll(async () => {
  harness = await AudioHarness.open();
});
beforeEach(() => harness.clear());
afterAll(() => harness.close());

const speak = (fields: object) => harness.charges(DIALOGUE, () => harness.call(DIALOGUE, fields));

describe('POST /v1/audio/dialogue', () => {
  it.each([
    ['aud-v4-dialogue', 'eleven_v4'],
    ['aud-v3-dialogue', 'eleven_v3'],
  ])('runs %s as %s at 120 micro-USD per code point (DLG-14)', async (model, upstreamModel) => {
    const { charged, seen } = await speak({ model });
    expect(charged).toBe(480n);
    expect(jsonSeen(seen)).toEqual({
      model_id: upstreamModel,
      inputs: [
        { text: 'Hi', voice_id: ADAM },
        { text: 'Yo', voice_id: 'Xb7hH8MSUJpSbSDYk0k2' },
      ],
    });
  });

  it('takes 2,000 code points in all and refuses one more (DLG-15, DLG-16, LIMIT-04, G-35)', async () => {
    const full = [line('x'.repeat(1_200)), line('\u{1f600}'.repeat(800))];
    expect((await speak({ inputs: full })).charged).toBe(240_000n);
    await harness.refusesField(DIALOGUE, 'inputs', [...full, line('x')]);
    await harness.refusesField(DIALOGUE, 'inputs', [line('x'.repeat(2_001))]);
    await harness.refusesField(DIALOGUE, 'inputs', [line('x'.repeat(1_048_000))]);
  });

  it.each([1, 50])('takes %i lines in the order sent (DLG-17, DLG-21)', async (count) => {
    const inputs = Array.from({ length: count }, (_, at) => line(`Line ${at}`));
    const { seen } = await speak({ inputs });
    const texts = (jsonSeen(seen).inputs as { text: string }[]).map(({ text }) => text);
    expect(texts).toEqual(inputs.map(({ text }) => text));
  });

  it.each([
    ['empty', []],
    ['51 lines', Array.from({ length: 51 }, () => line('a'))],
    ['missing', undefined],
    ['null', null],
    ['an object', line('a')],
    ['a string', 'Hello'],
  ])('refuses inputs that are %s (DLG-18)', async (_what, inputs) => {
    await harness.refusesField(DIALOGUE, 'inputs', inputs);
  });

  it('takes ten voices, not eleven (DLG-19, LIMIT-04)', async () => {
    const inputs = VOICES.slice(0, 11).map(({ name }) => line('Hi', name));
    await speak({ inputs: inputs.slice(0, 10) });
    await harness.refusesField(DIALOGUE, 'inputs', inputs);
  });

  it('counts a voice once, however it is called (DLG-20, G-37)', async () => {
    const others = VOICES.filter(({ name }) => name !== 'Adam').slice(0, 9);
    const inputs = ['Adam', 'adam', ADAM, ...others.map(({ name }) => name)];
    const { seen } = await speak({ inputs: inputs.map((voice) => line('Hi', voice)) });
    const told = (jsonSeen(seen).inputs as { voice_id: string }[]).map(({ voice_id }) => voice_id);
    expect(told.slice(0, 3)).toEqual([ADAM, ADAM, ADAM]);
  });

  it.each([undefined, null, '', '  \n', 'a\tb', 'a\u0000b', 'a\u0085b', 'a\ud800', 5, ['a']])(
    'refuses a line whose text is %j (DLG-22, G-34)',
    async (text) => {
      const inputs = [line('Hi'), { text, voice: 'Adam' }];
      await harness.refusesField(DIALOGUE, 'inputs', inputs, 'inputs.1.text');
    },
  );

  it('takes and bills line breaks (DLG-23)', async () => {
    const { charged, seen } = await speak({ inputs: [line('a\nb\r\nc')] });
    expect(charged).toBe(720n);
    expect(jsonSeen(seen).inputs).toEqual([{ text: 'a\nb\r\nc', voice_id: ADAM }]);
  });

  it.each([undefined, null, '', 'alloy', 'Nobody', 'Adam ', 5])(
    'refuses a line whose voice is %j (DLG-24)',
    async (voice) => {
      const inputs = [line('Hi'), line('Hi'), line('Hi'), { text: 'Hi', voice }];
      await harness.refusesField(DIALOGUE, 'inputs', inputs, 'inputs.3.voice');
    },
  );

  it.each([
    [{ ...line('Hi'), emotion: 'glad' }, 'inputs.0.emotion'],
    ['Hi', 'inputs'],
    [null, 'inputs'],
    [[line('Hi')], 'inputs'],
  ])('refuses the line %j (DLG-25)', async (bad, param) => {
    const send = () => harness.call(DIALOGUE, { inputs: [bad] });
    await harness.refused(send, 400, 'invalid_request');
    expect(errorOf(await send()).param?.startsWith(param)).toBe(true);
  });

  it.each([
    ['[laughs] Hi', 1_320n, 'DLG-26'],
    ['\u{1f600}', 120n, 'DLG-27'],
    ['e\u0301', 240n, 'DLG-27'],
    ['\u{1f468}\u200d\u{1f469}', 360n, 'DLG-27'],
  ])('bills %j %d micro-USD and passes it on unchanged (%s)', async (text, price) => {
    const { charged, seen } = await speak({ inputs: [line(text)] });
    expect(charged).toBe(price);
    expect(jsonSeen(seen).inputs).toEqual([{ text, voice_id: ADAM }]);
  });

  it.each([
    ['mp3', 'mp3_44100_128', 'audio/mpeg'],
    ['opus', 'opus_48000_128', 'audio/ogg'],
    ['pcm', 'pcm_24000', 'audio/pcm'],
    ['wav', 'wav_44100', 'audio/wav'],
    [undefined, 'mp3_44100_128', 'audio/mpeg'],
  ])('answers in the format %s (DLG-28, DLG-29)', async (format, asked, type) => {
    const { answer, seen } = await speak({ response_format: format });
    expect(seen.url).toBe(`/v1/text-to-dialogue?output_format=${asked}`);
    expect(answer.headers.get('content-type')).toBe(type);
  });

  it.each(['flac', 'MP3', 1])('refuses the response_format %j (DLG-30)', async (format) => {
    await harness.refusesField(DIALOGUE, 'response_format', format);
  });

  it('sends the language on where it is well-formed (DLG-31)', async () => {
    const { seen } = await speak({ language: 'es' });
    expect(jsonSeen(seen).language_code).toBe('es');
    await harness.refusesField(DIALOGUE, 'language', 'ES');
  });

  provesFields(() => harness, DIALOGUE, [
    numberRule(
      'stability',
      'settings.stability',
      [0, 1],
      [-0.01, 1.01],
      ['DLG-32', 'DLG-33', 'DLG-34'],
    ),
    numberRule(
      'seed',
      'seed',
      [0, 4_294_967_295],
      [-1, 4_294_967_296],
      ['DLG-35', 'DLG-36', 'DLG-37'],
      [1.5, '1', true],
    ),
  ]);

  it('takes an integral 1.0 as a seed (DLG-37)', async () => {
    const body = JSON.stringify({ ...DIALOGUE.body, seed: 1 }).replace('"seed":1', '"seed":1.0');
    const { headers } = harness.account;
    const { seen } = await harness.charges(DIALOGUE, () =>
      postJson(harness.url(DIALOGUE), headers, body),
    );
    expect(jsonSeen(seen).seed).toBe(1);
  });

  it.each([
    ['speed', 1],
    ['similarity_boost', 1],
    ['style', 0],
    ['input', 'Hi'],
    ['voice', 'Adam'],
  ])('refuses %s, which belongs to speech (DLG-38)', async (field, value) => {
    await harness.refusesField(DIALOGUE, field, value);
  });
});

describe('the audio itself', () => {
  let gateway: TestGateway;
  let account: TestAccount;

  beforeAll(async () => {
    gateway = await startTestGateway();
    account = await gateway.account();
  });
  afterAll(async () => {
    await gateway.expectCleanBooks();
    await gateway.stop();
  });

  it('has the same length in each format, longer for more lines (DLG-28, DLG-29)', async () => {
    const speakFor = (fields: object) => call(DIALOGUE, gateway.url, account.headers, fields);
    const seconds = audioSeconds(await speakFor({ response_format: 'pcm' }), 'pcm');
    for (const response_format of ['mp3', 'opus', 'wav', undefined] as const) {
      const answer = await speakFor({ response_format });
      // The last frame of an MP3 is completed with silence.
      expect(audioSeconds(answer, response_format)).toBeCloseTo(seconds, 1);
    }
    const inputs = [line('Hi'), line('Yo', 'Alice'), line('And goodbye to you all')];
    const longer = await speakFor({ response_format: 'pcm', inputs });
    expect(audioSeconds(longer, 'pcm')).toBeGreaterThan(seconds);
  });

  it('is free where the provider does not know the language (DLG-31, G-40)', async () => {
    const { accountId, headers } = await gateway.account(480n);
    const answer = await call(DIALOGUE, gateway.url, headers, { language: 'xx' });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'provider_rejected_request']);
    expect(await gateway.balance(accountId)).toEqual({ available: 480n, held: 0n, entries: 1 });
  });
});
