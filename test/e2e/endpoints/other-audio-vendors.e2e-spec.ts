import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { measureBytes } from '../../../src/media/duration/media-duration.js';
import { AUDIO_SAMPLES } from '../../contract/audio-samples.js';
import { wavFile } from '../../media/wav-file.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { overlay } from '../../support/overlay-file.js';
import { StubUpstream } from '../../support/stub-upstream.js';

/** One second of silence. */
const SECOND = wavFile(1_000, 1_000, 8);
const { mp3 } = AUDIO_SAMPLES;
const CHARGE = 'x-gateway-charge-microusd';

const at = (id: string, baseUrl: string) => ({
  id,
  protocol: id,
  base_url: baseUrl,
  api_key_env: '',
});
const catalogFor = (deepgram: string, minimax: string) =>
  overlay({
    models: [
      {
        id: 'aud-transcribe-v2',
        routes: [
          { provider: 'elevenlabs', upstream_model: 'scribe_v2' },
          { provider: 'deepgram', upstream_model: 'nova-3' },
        ],
      },
      {
        id: 'aud-aura',
        operation: 'speech',
        routes: [{ provider: 'deepgram', upstream_model: 'aura-2' }],
        voices: { Thalia: 'thalia-en' },
        price: { unit: 'code_point', micro_usd: 40 },
        limits: { max_input: 2_000 },
      },
      {
        id: 'aud-lady',
        operation: 'speech',
        routes: [{ provider: 'minimax', upstream_model: 'speech-2.8-hd' }],
        voices: { Lady: 'English_Graceful_Lady' },
        price: { unit: 'code_point', micro_usd: 150 },
        limits: { max_input: 10_000 },
      },
    ],
    providers: [at('deepgram', deepgram), at('minimax', minimax)],
  });

let elevenLabs: StubUpstream;
let deepgram: StubUpstream;
let minimax: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  [elevenLabs, deepgram, minimax] = await Promise.all([
    StubUpstream.start(),
    StubUpstream.start(),
    StubUpstream.start(),
  ]);
  elevenLabs.reply = (response) => response.writeHead(429).end();
  gateway = await startTestGateway({
    ELEVENLABS_API_KEY: 'first-key',
    ELEVENLABS_BASE_URL: elevenLabs.url,
    CATALOG_FILE: catalogFor(deepgram.url, minimax.url),
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await Promise.all([elevenLabs.stop(), deepgram.stop(), minimax.stop()]);
});
beforeEach(() => {
  deepgram.seen.length = 0;
  minimax.seen.length = 0;
});

const speak = (fields: object) =>
  postJson(`${gateway.url}/v1/audio/speech`, account.headers, { input: 'Hé, you.', ...fields });
const books = () => gateway.balance(account.accountId);

describe('Deepgram as the second source of transcriptions', () => {
  const transcribe = (fields: Readonly<Record<string, string>>) => {
    const form = new FormData();
    const sentFields = { model: 'aud-transcribe-v2', ...fields };
    for (const [name, value] of Object.entries(sentFields)) form.append(name, value);
    form.append('file', new Blob([new Uint8Array(SECOND)]), 'a.wav');
    const url = `${gateway.url}/v1/audio/transcriptions`;
    return send(url, { method: 'POST', headers: account.headers, body: form });
  };
  const word = {
    word: 'hello',
    punctuated_word: 'Hello.',
    start: 0.1,
    end: 0.6,
    confidence: 0.9,
    speaker: 0,
  };
  beforeEach(() => {
    deepgram.reply = (response) =>
      response.end(
        JSON.stringify({
          metadata: { request_id: 'r-1', duration: 1, channels: 1 },
          results: {
            channels: [
              {
                detected_language: 'en',
                alternatives: [{ transcript: 'Hello.', confidence: 0.9, words: [word] }],
              },
            ],
            utterances: [{ start: 0.1, end: 0.6, transcript: 'Hello.', speaker: 0 }],
          },
        }),
      );
  });

  it('serves words, speakers and subtitles at once, at the price of the model', async () => {
    const answer = await transcribe({ diarize: 'true', timestamps: 'word', subtitles: 'true' });
    expect([answer.status, answer.json]).toMatchObject([
      200,
      {
        text: 'Hello.',
        language: 'en',
        duration_seconds: 1,
        words: [{ text: 'Hello.', start: 0.1, end: 0.6, speaker: 'speaker_0' }],
      },
    ]);
    expect(answer.bytes.toString()).toContain('00:00:00,100 --> 00:00:00,600');
    expect(answer.headers.get(CHARGE)).toBe('92');
    expect(deepgram.only.body.equals(SECOND)).toBe(true);
    expect(deepgram.only.headers.authorization).toBeUndefined();
  });

  it.each<[string, Record<string, string>]>([
    ['the number of speakers', { num_speakers: '2' }],
    ['tagged sounds', { tag_audio_events: 'true' }],
    ['a language of three letters', { language: 'eng' }],
  ])('is passed over for a call with %s, which is free then', async (_what, fields) => {
    const before = await books();
    expect((await transcribe(fields)).status).toBe(429);
    expect([deepgram.seen.length, await books()]).toEqual([0, before]);
  });
});

describe('speech at Deepgram', () => {
  it('is charged by its text, under a name of its own', async () => {
    deepgram.reply = (response) =>
      response.writeHead(200, { 'dg-request-id': 'r-2', 'content-type': 'audio/mpeg' }).end(mp3);
    const answer = await speak({ model: 'aud-aura', voice: 'thalia' });
    expect([answer.status, answer.headers.get(CHARGE)]).toEqual([200, '320']);
    expect(answer.bytes.equals(mp3)).toBe(true);
    expect(deepgram.only.url).toContain('model=aura-2-thalia-en');
  });

  it('is free where it is refused', async () => {
    const before = await books();
    const body = { err_code: 'INVALID_QUERY_PARAMETER', err_msg: 'no', request_id: 'r-3' };
    deepgram.reply = (response) => response.writeHead(400).end(JSON.stringify(body));
    const answer = await speak({ model: 'aud-aura', voice: 'Thalia' });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'provider_rejected_request']);
    expect(await books()).toEqual(before);
  });
});

describe('speech at MiniMax', () => {
  const eventOf = (data: object, more = {}) =>
    `data: ${JSON.stringify({ data, base_resp: { status_code: 0, status_msg: '' }, ...more })}\n\n`;
  const pieceOf = (audio: Buffer) => eventOf({ audio: audio.toString('hex'), status: 1 });
  const last = eventOf({ status: 2 }, { extra_info: { usage_characters: 8 } });

  it('is sent on piece by piece, and charged by its text', async () => {
    let end = (): void => undefined;
    minimax.reply = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(pieceOf(mp3.subarray(0, 500)));
      end = () => response.end(pieceOf(mp3.subarray(500)) + last);
    };
    const url = `${gateway.url}/v1/audio/speech`;
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...account.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'aud-lady', voice: 'Lady', input: 'Hé, you.' }),
    });
    const reader = answer.body!.getReader();
    const first = await reader.read();
    expect(Buffer.from(first.value).equals(mp3.subarray(0, 500))).toBe(true);
    end();
    const second = await reader.read();
    expect(Buffer.from(second.value).equals(mp3.subarray(500))).toBe(true);
    expect((await reader.read()).done).toBe(true);
    expect(answer.headers.get(CHARGE)).toBe('1200');
  });

  it.each(['opus', 'wav'] as const)('is made %s here, as long as it is', async (format) => {
    const samples = Buffer.alloc(96_000, 7);
    minimax.reply = (response) => response.end(pieceOf(samples) + last);
    const answer = await speak({ model: 'aud-lady', voice: 'Lady', response_format: format });
    expect([answer.status, answer.headers.get(CHARGE)]).toEqual([200, '1200']);
    const { durationMicros } = measureBytes(answer.bytes);
    expect(Math.abs(Number(durationMicros) / 1e6 - 2)).toBeLessThan(0.1);
  });

  it('is free where its words are refused, though the vendor says so with 200', async () => {
    const before = await books();
    const body = { base_resp: { status_code: 1026, status_msg: 'new_sensitive' } };
    minimax.reply = (response) => response.end(JSON.stringify(body));
    const answer = await speak({ model: 'aud-lady', voice: 'Lady' });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'provider_rejected_request']);
    expect(await books()).toEqual(before);
  });

  it('is free where it breaks off', async () => {
    const before = await books();
    minimax.reply = (response) => {
      response.write(pieceOf(mp3));
      setTimeout(() => response.end(), 200);
    };
    await expect(speak({ model: 'aud-lady', voice: 'Lady' })).rejects.toThrow();
    await gateway.expectCleanBooks();
    expect(await books()).toEqual(before);
  });
});
