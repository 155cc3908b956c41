import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { wavFile } from '../../media/wav-file.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, send } from '../../support/http-answer.js';
import { AdminHarness } from '../../support/admin-harness.js';
import { overlay } from '../../support/overlay-file.js';
import { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

/** One second of silence: its price is that of the model. */
const SECOND = wavFile(1_000, 1_000, 8);
const PRICE = '92';
/** Above what OpenAI takes, and one and a half minutes of sound. */
const LARGE = wavFile(27_000_000, 300_000, 8);

const PAUSE = { reason: 'It fails' };

const OPENAI_FIRST = 'aud-openai-first';
const TWO_ROUTES = overlay({
  models: [
    {
      id: 'aud-transcribe-v2',
      routes: [
        { provider: 'elevenlabs', upstream_model: 'scribe_v2' },
        { provider: 'openai', upstream_model: 'whisper-1' },
      ],
    },
    {
      id: OPENAI_FIRST,
      operation: 'transcription',
      limits: { max_seconds: 7_200 },
      price: { unit: 'measured_second', micro_usd: 92 },
      routes: [
        { provider: 'openai', upstream_model: 'whisper-1' },
        { provider: 'elevenlabs', upstream_model: 'scribe_v2' },
      ],
    },
  ],
});

let first: StubUpstream;
let second: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  [first, second] = await Promise.all([StubUpstream.start(), StubUpstream.start()]);
  gateway = await startTestGateway({
    ELEVENLABS_API_KEY: 'first-key',
    ELEVENLABS_BASE_URL: first.url,
    OPENAI_API_KEY: 'second-key',
    OPENAI_BASE_URL: `${second.url}/v1`,
    CATALOG_FILE: TWO_ROUTES,
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await Promise.all([first.stop(), second.stop()]);
});
beforeEach(() => {
  first.seen.length = 0;
  second.seen.length = 0;
  // It takes nothing now, and has certainly done nothing.
  first.reply = (response) => response.writeHead(429).end();
  second.reply = (response) =>
    response.end(
      JSON.stringify({
        text: 'Hello there',
        language: 'english',
        words: [
          { word: 'Hello', start: 0, end: 0.4 },
          { word: 'there', start: 0.5, end: 0.9 },
        ],
      }),
    );
});

function transcribe(
  fields: Readonly<Record<string, string>>,
  file = SECOND,
  headers: Readonly<Record<string, string>> = {},
) {
  const form = new FormData();
  const sentFields = { model: 'aud-transcribe-v2', ...fields };
  for (const [name, value] of Object.entries(sentFields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(file)]), 'a.wav');
  const sent = { ...account.headers, ...headers };
  const url = `${gateway.url}/v1/audio/transcriptions`;
  return send(url, { method: 'POST', headers: sent, body: form });
}

describe('a second source of transcriptions', () => {
  it.each([
    ['the text', {}],
    ['its language', { language: 'en' }],
    ['timed words', { timestamps: 'word' }],
  ])('serves a call for %s, at the price of the model', async (_what, fields) => {
    const answer = await transcribe(fields);
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { text: 'Hello there', duration_seconds: 1 },
    ]);
    expect(answer.headers.get('x-gateway-charge-microusd')).toBe(PRICE);
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
  });

  it.each<[string, Record<string, string>, Buffer]>([
    ['speakers', { diarize: 'true' }, SECOND],
    ['their number', { num_speakers: '2' }, SECOND],
    ['tagged sounds', { tag_audio_events: 'true' }, SECOND],
    ['words and subtitles', { timestamps: 'word', subtitles: 'true' }, SECOND],
    ['a language of three letters', { language: 'eng' }, SECOND],
    ['a file above 25 MB', {}, LARGE],
  ])('is passed over for a call with %s, which is free then', async (_what, fields, file) => {
    const answer = await transcribe(fields, file);
    expect([answer.status, errorOf(answer).code]).toEqual([429, 'provider_rate_limited']);
    expect([first.seen.length, second.seen.length]).toEqual([1, 0]);
  });

  it('is passed over as a task too, also where it is the first route', async () => {
    first.reply = (response) => response.end(JSON.stringify({ text: 'Hello', words: [] }));
    const task = { prefer: 'respond-async' };
    const ids = [];
    for (const fields of [{ diarize: 'true' }, {}]) {
      const answer = await transcribe({ ...fields, model: OPENAI_FIRST }, SECOND, task);
      expect(answer.status === 202 ? '' : answer.bytes.toString()).toBe('');
      ids.push((answer.json as { id: string }).id);
    }
    for (const id of ids) {
      const url = `${gateway.url}/v1/tasks/${id}`;
      const ended = await send(url, { headers: { ...account.headers, prefer: 'wait=30' } });
      expect(ended.json).toMatchObject({ status: 'succeeded' });
    }
    expect([first.seen.length, second.seen.length]).toEqual([1, 1]);
  });

  it('is 503 for what it cannot do while the first is paused', async () => {
    const admin = await AdminHarness.start(gateway);
    expect((await admin.post('/providers/elevenlabs/pause', PAUSE)).status).toBe(200);
    await until(async () => (await transcribe({ num_speakers: '2' })).status === 503);
    const answer = await transcribe({ num_speakers: '2' });
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'no_eligible_route']);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect((await transcribe({})).status).toBe(200);
    await admin.ask('DELETE', '/providers/elevenlabs/pause');
    await until(async () => (await transcribe({ num_speakers: '2' })).status === 429);
  });

  describe('where it is all that there is', () => {
    beforeAll(async () => {
      await gateway.stop();
      gateway = await startTestGateway({
        SANDBOX: 'off',
        OPENAI_API_KEY: 'second-key',
        OPENAI_BASE_URL: `${second.url}/v1`,
        CATALOG_FILE: TWO_ROUTES,
      });
      account = await gateway.account();
    });

    it.each<[Record<string, string>, Buffer, string, string]>([
      [{ tag_audio_events: 'true' }, SECOND, 'tag_audio_events', 'as it was sent'],
      [{ num_speakers: '2' }, SECOND, 'num_speakers', 'as it was sent'],
      [{ diarize: 'true' }, SECOND, 'diarize', 'as it was sent'],
      [{ language: 'eng' }, SECOND, 'language', 'as it was sent'],
      [{ temperature: '1.5' }, SECOND, 'temperature', 'as it was sent'],
      [{}, LARGE, 'file', 'as it was sent'],
      [
        { response_format: 'verbose_json', subtitles: 'true' },
        SECOND,
        'response_format',
        'response_format and subtitles as they were sent, or not together',
      ],
      [
        { timestamp_granularities: 'word', subtitles: 'true' },
        SECOND,
        'timestamp_granularities',
        'timestamp_granularities and subtitles as they were sent, or not together',
      ],
    ])(
      'refuses %j, which it cannot do, by its field before any hold',
      async (fields, file, param, says) => {
        expect((await transcribe({})).status).toBe(200);
        second.seen.length = 0;
        for (const prefer of [{}, { prefer: 'respond-async' }]) {
          const answer = await transcribe(fields, file, prefer);
          const error = errorOf(answer);
          expect([answer.status, error.code, error.param]).toEqual([400, 'invalid_request', param]);
          expect(error.message).toContain(says);
          expect(answer.headers.get('x-should-retry')).toBe('false');
        }
        expect(second.seen).toEqual([]);
        expect(await gateway.balance(account.accountId)).toMatchObject({ held: 0n });
      },
    );
  });
});
