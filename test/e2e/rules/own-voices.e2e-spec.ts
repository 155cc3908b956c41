import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { VOICES } from '../../../src/catalog/voices.js';
import { AUDIO_SAMPLES } from '../../contract/audio-samples.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { StubUpstream } from '../../support/stub-upstream.js';

const PRICE = { unit: 'code_point', micro_usd: 20 };

let upstream: StubUpstream;
let gateway: TestGateway;
let account: Awaited<ReturnType<TestGateway['account']>>;

beforeAll(async () => {
  upstream = await StubUpstream.start();
  const overlay = {
    providers: [
      { id: 'other', protocol: 'openai', base_url: `${upstream.url}/v1`, api_key_env: '' },
    ],
    models: [
      {
        id: 'aud-own',
        operation: 'speech',
        voices: { Coral: 'coral', Adam: 'ash' },
        routes: [{ provider: 'other', upstream_model: 'tts' }],
        aliases: ['own-speech'],
        price: PRICE,
        limits: { max_input: 4_096 },
      },
      {
        id: 'aud-own-dialogue',
        operation: 'dialogue',
        voices: { Coral: 'coral', Sage: 'sage', Ash: 'ash' },
        routes: [{ provider: 'elevenlabs', upstream_model: 'eleven_v3' }],
        price: PRICE,
        limits: { max_input: 2_000, max_voices: 2 },
      },
    ],
  };
  const file = join(mkdtempSync(join(tmpdir(), 'own-voices-')), 'catalog.json');
  writeFileSync(file, JSON.stringify(overlay));
  gateway = await startTestGateway({ CATALOG_FILE: file, SANDBOX: 'on' });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});
beforeEach(() => {
  upstream.seen.length = 0;
  upstream.reply = (response) =>
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(AUDIO_SAMPLES.mp3);
});

const speak = (model: string, voice: string) =>
  postJson(`${gateway.url}/v1/audio/speech`, account.headers, { model, voice, input: 'Hello' });
const quote = (model: string, voice: string) =>
  postJson(`${gateway.url}/v1/quotes`, account.headers, {
    path: '/v1/audio/speech',
    body: { model, voice, input: 'Hello' },
  });
const voicesOf = (query: string, headers = account.headers) =>
  send(`${gateway.url}/v1/voices${query}`, { headers });
const sentVoice = (): unknown =>
  (JSON.parse(upstream.only.body.toString()) as { voice: unknown }).voice;

describe('a model with voices of its own', () => {
  it.each([
    ['Coral', 'coral'],
    ['CORAL', 'coral'],
    ['adam', 'ash'],
  ])('speaks with the voice %s as its provider calls it', async (voice, told) => {
    const answer = await speak('aud-own', voice);
    expect(answer.status).toBe(200);
    expect(sentVoice()).toBe(told);
  });

  it.each(['Alice', 'pNInz6obpgDQGcFmaJgB', 'coral '])(
    'refuses the voice %j before any hold, in a quote too',
    async (voice) => {
      const answer = await speak('aud-own', voice);
      expect([answer.status, errorOf(answer)]).toMatchObject([
        400,
        { code: 'invalid_request', param: 'voice' },
      ]);
      expect(upstream.seen).toEqual([]);
      const { json } = await quote('aud-own', voice);
      expect(json).toMatchObject({ error: { code: 'invalid_request', param: 'voice' } });
    },
  );

  it('lists them where models are listed', async () => {
    const { json } = await send(`${gateway.url}/v1/models/aud-own`, { headers: account.headers });
    expect(json).toMatchObject({ supported_voices: ['Coral', 'Adam'] });
  });

  it.each(['aud-own', 'own-speech'])(
    'has each of them in the list of voices of %s, by an id that it takes',
    async (model) => {
      const { status, json } = await voicesOf(`?model=${model}`);
      expect([status, json]).toEqual([
        200,
        {
          object: 'list',
          data: ['Coral', 'Adam'].map((name) => ({ id: name, name, gender: null, accent: null })),
        },
      ]);
      for (const { id } of (json as { data: { id: string }[] }).data)
        expect((await speak(model, id)).status).toBe(200);
    },
  );

  it('leaves the list without a model as it is', async () => {
    expect((await voicesOf('')).json).toEqual({ object: 'list', data: VOICES });
  });

  it('lets no more of them speak at once than its row says', async () => {
    const say = (voices: readonly string[]) =>
      postJson(`${gateway.url}/v1/audio/dialogue`, account.headers, {
        model: 'aud-own-dialogue',
        inputs: voices.map((voice) => ({ text: 'Hello', voice })),
      });
    expect(errorOf(await say(['Coral', 'Sage', 'Ash']))).toMatchObject({ param: 'inputs' });
    expect(errorOf(await say(['Coral', 'Adam']))).toMatchObject({
      code: 'invalid_request',
      param: 'inputs.1.voice',
    });
  });
});

describe('a model without voices of its own', () => {
  it('refuses those of another model', async () => {
    expect(errorOf(await speak('aud-v4', 'Coral'))).toMatchObject({
      code: 'invalid_request',
      param: 'voice',
    });
    expect((await speak('aud-v4', 'Adam')).status).toBe(200);
  });
});

describe('the list of voices of a model', () => {
  it.each(['aud-v4', 'aud-v3-dialogue'])('has the premade ones for %s', async (model) => {
    expect((await voicesOf(`?model=${model}`)).json).toEqual({ object: 'list', data: VOICES });
  });

  it.each([
    ['model=gen-5', 400, 'invalid_request', 'model'],
    ['model=nobody', 404, 'model_not_found', 'model'],
    ['model=', 400, 'invalid_request', 'model'],
    ['model=aud-v4&model=aud-own', 400, 'invalid_request', 'model'],
    ['modle=aud-own', 400, 'invalid_request', 'modle'],
  ])('is refused for ?%s', async (query, status, code, param) => {
    const answer = await voicesOf(`?${query}`);
    expect([answer.status, errorOf(answer)]).toMatchObject([status, { code, param }]);
  });

  it('is hidden with the model from a key that may not use it', async () => {
    const { headers } = await gateway.account(0n, { allowedModels: ['aud-v4'] });
    expect((await voicesOf('?model=aud-own', headers)).status).toBe(404);
    expect((await voicesOf('?model=aud-v4', headers)).status).toBe(200);
  });
});
