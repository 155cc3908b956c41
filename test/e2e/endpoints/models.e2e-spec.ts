import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { BUILT_IN_MODELS } from '../../../src/catalog/models/built-in.models.js';
import { SANDBOX_MODELS } from '../../../src/catalog/models/sandbox.models.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { expectRefused } from '../../support/refusal.js';

interface ModelRecord {
  readonly id: string;
  readonly supported_endpoint_types: readonly string[];
}

const file = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'overlay.json');
const OVERLAY = {
  models: [
    { id: 'aud-v3', enabled: false },
    { id: 'aud-multilingual-v2', routes: [{ provider: 'nobody', upstream_model: 'x' }] },
    {
      id: 'aud-cheap',
      operation: 'speech',
      routes: [{ provider: 'elevenlabs', upstream_model: 'eleven_flash_v2_5' }],
      price: { unit: 'code_point', micro_usd: 7 },
      limits: { max_input: 3 },
    },
  ],
};

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  writeFileSync(file, JSON.stringify(OVERLAY));
  gateway = await startTestGateway({ CATALOG_FILE: file });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const get = (path: string, headers = account.headers) => send(gateway.url + path, { headers });
const speak = (fields: object) =>
  postJson(`${gateway.url}/v1/audio/speech`, account.headers, { ...HELLO, ...fields });

async function list(headers = account.headers): Promise<readonly ModelRecord[]> {
  const answer = await get('/v1/models', headers);
  expect(answer.status).toBe(200);
  return (answer.json as { data: ModelRecord[] }).data;
}

describe('GET /v1/models', () => {
  it('answers a list of model records with their endpoint types (MODELS-01, G-90)', async () => {
    const answer = await get('/v1/models');
    expect(answer.json).toMatchObject({ object: 'list', data: expect.any(Array) });
    for (const model of await list()) {
      expect(model).toMatchObject({
        id: expect.stringMatching(/^(aud|gen|song|tune|vid)-/),
        object: 'model',
        created: expect.any(Number),
        owned_by: expect.stringMatching(/^[a-z]+$/),
        supported_endpoint_types: expect.arrayContaining([expect.stringMatching(/^[a-z-]+$/)]),
      });
    }
  });

  it('lists every model of an endpoint that is served, with its endpoint type (MODELS-02)', async () => {
    const typeOf = new Map((await list()).map((row) => [row.id, row.supported_endpoint_types]));
    expect(Object.fromEntries([...typeOf].filter(([id]) => id.startsWith('aud-')))).toMatchObject({
      'aud-v4': ['audio-speech'],
      'aud-flash-v2.5': ['audio-speech'],
      'aud-v4-dialogue': ['audio-dialogue'],
      'aud-v3-dialogue': ['audio-dialogue'],
      'aud-transcribe-v2': ['audio-transcription'],
      'aud-forced-alignment': ['audio-alignment'],
      'aud-multilingual-sts-v2': ['audio-voice-changer'],
      'aud-english-sts-v2': ['audio-voice-changer'],
      'aud-voice-isolator': ['audio-isolation'],
      'aud-sound-effects-v2': ['audio-sound-effects'],
      'aud-music-v2.5': ['audio-music'],
    });
    const sold = [...BUILT_IN_MODELS, ...SANDBOX_MODELS];
    const known = new Set(sold.map((row) => row.id)).add('aud-cheap');
    // One is disabled by the overlay, the other has no route that can run.
    for (const id of ['aud-v3', 'aud-multilingual-v2']) known.delete(id);
    expect([...typeOf.keys()].sort()).toEqual([...known].sort());
    const families = [...typeOf.keys()].map((id) => id.split('-')[0]);
    const many = (...wanted: string[]) => families.filter((word) => wanted.includes(word!)).length;
    // 4 speech, 2 dialogue and 8 other models, without the two and with the new one.
    expect([many('song', 'tune'), many('aud')]).toEqual([42, 13]);
    for (const id of ['gen-image-2', 'gen-image-2-all']) {
      expect(typeOf.get(id)).toEqual(['image-generation']);
    }
  });

  it('gives compat-video to video models alone (MODELS-03)', async () => {
    for (const { id, supported_endpoint_types } of await list()) {
      expect(supported_endpoint_types.includes('compat-video')).toBe(id.startsWith('vid-'));
    }
  });

  it('gives text models an id that begins with gen- (MODELS-06, G-91)', async () => {
    for (const { id, supported_endpoint_types } of await list()) {
      if (supported_endpoint_types.includes('chat-completions')) {
        expect(id).toMatch(/^gen-(?!image-|embed-)/);
      }
      expect(supported_endpoint_types.includes('embeddings')).toBe(id.startsWith('gen-embed-'));
    }
  });

  it('shows a key with an allowlist its models only (MODELS-05, G-90)', async () => {
    const allowedModels = ['aud-flash-v2.5', 'gen-5', 'aud-v3', 'no-such-model'];
    const key = await gateway.keyOf(account.accountId, { allowedModels });
    const ids = (await list({ authorization: `Bearer ${key}` })).map((row) => row.id);
    expect(new Set(ids)).toEqual(new Set(['aud-flash-v2.5', 'gen-5']));
  });

  it('is free and writes no ledger entry (MODELS-09)', async () => {
    const before = await gateway.balance(account.accountId);
    await Promise.all([list(), get('/v1/models/aud-v4'), get('/v1/models/nothing')]);
    expect(await gateway.balance(account.accountId)).toEqual(before);
  });

  it('is iterated by the OpenAI SDK (MODELS-08)', async () => {
    const sdk = new OpenAI({ apiKey: account.key, baseURL: `${gateway.url}/v1` });
    const ids: string[] = [];
    for await (const model of sdk.models.list()) ids.push(model.id);
    expect(ids).toEqual((await list()).map((row) => row.id));
    expect(await sdk.models.retrieve('aud-v4')).toMatchObject({ id: 'aud-v4', object: 'model' });
  });

  it('one by its id is the same record; an unlisted one is 404', async () => {
    const [first] = await list();
    expect((await get(`/v1/models/${first?.id ?? ''}`)).json).toMatchObject(first ?? {});
    for (const id of ['nothing', 'aud-v3', 'aud-multilingual-v2', '__proto__', '%00', '%ff']) {
      const answer = await get(`/v1/models/${id}`);
      expect({ status: answer.status, code: errorOf(answer).code }).toEqual({
        status: 404,
        code: 'model_not_found',
      });
    }
  });
});

describe('a model of the overlay file', () => {
  it('that is disabled is not listed and is 404 when used (MODELS-07)', async () => {
    expect((await list()).map((row) => row.id)).not.toContain('aud-v3');
    await expectRefused(gateway, account.accountId, () => speak({ model: 'aud-v3' }), {
      status: 404,
      code: 'model_not_available',
    });
  });

  it('without a route that can run is not listed and answers 503', async () => {
    const model = 'aud-multilingual-v2';
    expect((await list()).map((row) => row.id)).not.toContain(model);
    await expectRefused(gateway, account.accountId, () => speak({ model }), {
      status: 503,
      code: 'no_eligible_route',
    });
  });

  it('that is new is sold at its price, within its limits, on its route', async () => {
    const buyer = await gateway.account(21n);
    const buy = (input: string) =>
      postJson(`${gateway.url}/v1/audio/speech`, buyer.headers, {
        ...HELLO,
        model: 'aud-cheap',
        input,
      });
    await expectRefused(gateway, buyer.accountId, () => buy('four'), {
      status: 400,
      code: 'input_too_long',
      param: 'input',
    });
    expect((await buy('one')).status).toBe(200);
    expect((await gateway.balance(buyer.accountId)).available).toBe(0n);
    const [upstream] = await gateway.upstreamRequests();
    expect(upstream?.body).toMatchObject({ model_id: 'eleven_flash_v2_5' });
  });
});
