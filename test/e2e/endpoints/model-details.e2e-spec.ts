import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { VOICES } from '../../../src/catalog/voices.js';
import { type TestAccount } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { type GatewayFromOutside, sharedGateway } from '../../support/shared-gateway.js';

interface Detail {
  readonly id: string;
  readonly endpoint: string;
  readonly price: Record<string, unknown>;
  readonly limits: Record<string, unknown>;
  readonly parameters: readonly string[];
}

let gateway: GatewayFromOutside;
let account: TestAccount;

beforeAll(async () => {
  gateway = await sharedGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const get = (path: string) => send(gateway.url + path, { headers: account.headers });
const detail = async (id: string) => (await get(`/v1/models/${id}`)).json as Detail;

describe('GET /v1/models/{id}', () => {
  it.each([
    ['aud-v4', { unit: 'code_point', amount_microusd: '120' }, { max_input: 10_000 }],
    [
      'aud-voice-isolator',
      { unit: 'second', amount_microusd: '3000' },
      { max_seconds: 3_600, min_seconds: 4.6 },
    ],
    [
      'aud-music-v2.5',
      { unit: 'second', amount_microusd: '3750' },
      { duration_seconds: { min: 3, max: 300 } },
    ],
    [
      'vid-motion',
      { unit: 'request', by_seconds: { 5: '250000', 10: '500000', 15: '750000' } },
      {
        aspect_ratios: ['16:9', '9:16', '1:1'],
        max_image_urls: 4,
        prompt: { min_length: 1, max_length: 32_000 },
      },
    ],
    [
      'aud-dubbing-v1',
      { unit: 'second', amount_microusd: '12500' },
      { num_speakers: { min: 0, max: 32 }, target_language: { values: expect.any(Array) } },
    ],
    [
      'tune-music',
      { unit: 'request', amount_microusd: '90000' },
      {
        prompt: { min_length: 1, max_length: 3_000 },
        lyrics: { min_length: 1, max_length: 5_000 },
        duration: { min: 1, max: 240 },
        bpm: { min: 1, max: 300 },
      },
    ],
    [
      'song-mashup',
      { unit: 'request' },
      {
        version: { values: ['v6', 'v6-wild', 'v6-mini'] },
        source_indexes: { min: 1, max: 8, min_items: 2, max_items: 2 },
      },
    ],
    [
      'gen-5',
      { unit: 'token', input_per_million: '1250000', output_per_million: '10000000' },
      { max_output_tokens: 128_000 },
    ],
    ['gen-image-2', { unit: 'image', amount_microusd: '10000' }, { sizes: expect.any(Array) }],
  ])('tells price and limits of %s', async (id, price, limits) => {
    expect(await detail(id)).toMatchObject({ id, price, limits });
  });

  it('shows no limit of a field that its model narrows', async () => {
    const limited = await Promise.all(
      ['vid-motion', 'aud-v4', 'gen-5', 'gen-image-2'].map(async (id) =>
        Object.keys((await detail(id)).limits),
      ),
    );
    for (const name of ['size', 'seconds', 'aspect_ratio', 'image_urls', 'input', 'max_tokens']) {
      expect(limited.flat()).not.toContain(name);
    }
  });

  it('shows endpoint and fields, for forms and for JSON', async () => {
    const speech = await detail('aud-v4');
    expect(speech.endpoint).toBe('/v1/audio/speech');
    expect(speech.parameters).toEqual(expect.arrayContaining(['model', 'input', 'voice', 'seed']));
    const { parameters } = await detail('aud-transcribe-v2');
    expect(parameters).toEqual(expect.arrayContaining(['model', 'file', 'audio_url']));
  });

  it('names an endpoint that exists, with fields, for every model of the list', async () => {
    const list = (await get('/v1/models')).json as { data: readonly { id: string }[] };
    const document = (await send(`${gateway.url}/openapi.json`)).json as {
      paths: Record<string, { post?: object }>;
    };
    for (const { id } of list.data) {
      const { endpoint, parameters, limits } = await detail(id);
      expect([id, Object.keys(limits).length > 0]).toEqual([id, true]);
      expect([id, document.paths[endpoint]?.post !== undefined]).toEqual([id, true]);
      expect([id, parameters.includes('model')]).toEqual([id, true]);
    }
  });
});

describe('an unknown model', () => {
  it.each([
    ['/v1/models/gen-none', undefined, 'model_not_found'],
    ['/v1/chat/completions', { messages: [] }, 'model_not_found'],
    ['/v1/audio/speech', HELLO, 'model_not_available'],
    ['/v1/music/generations', {}, 'model_not_available'],
  ])('is refused at %s with where the models are listed', async (path, fields, code) => {
    const answer = fields
      ? await postJson(`${gateway.url}${path}`, account.headers, { ...fields, model: 'gen-none' })
      : await get(path);
    expect(answer.status).toBe(404);
    expect(errorOf(answer)).toMatchObject({
      code,
      param: 'model',
      message: 'No such model; GET /v1/models lists the models of this key.',
    });
  });
});

describe('a misspelled model', () => {
  const messages = [{ role: 'user', content: 'hi' }];

  it.each([
    ['/v1/models/gen-5-mni', undefined, 'gen-5-mini'],
    ['/v1/chat/completions', { model: 'gen-5-mni', messages }, 'gen-5-mini'],
    ['/v1/audio/speech', { ...HELLO, model: 'aud-v-3' }, 'aud-v3'],
    ['/v1/music/generations', { model: 'tune-musik' }, 'tune-music'],
  ])('is answered at %s with the nearest one of the endpoint', async (path, body, nearest) => {
    const answer = await (body ? postJson(gateway.url + path, account.headers, body) : get(path));
    expect(answer.status).toBe(404);
    expect(errorOf(answer).message).toBe(
      `No such model; GET /v1/models lists the models of this key. Did you mean ${nearest}?`,
    );
  });

  it('is not answered with one that the key may not use', async () => {
    const { headers } = await gateway.account(undefined, { allowedModels: ['aud-v3'] });
    const body = { model: 'gen-5-mni', messages };
    const answer = await postJson(`${gateway.url}/v1/chat/completions`, headers, body);
    expect(errorOf(answer).message).not.toContain('Did you mean');
  });

  it.each(['modle', 'Model', 'model_id'])('is told where the field is %s', async (name) => {
    const body = { [name]: 'gen-5-mini', messages };
    const answer = await postJson(`${gateway.url}/v1/chat/completions`, account.headers, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({
      param: 'model',
      message: `model is required and must be a string. ${name} is unknown. Did you mean model?`,
    });
  });
});

describe('an unknown voice', () => {
  it('is refused with the names of all that there are', async () => {
    const body = { ...HELLO, voice: 'Nobody' };
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, account.headers, body);
    expect(errorOf(answer).param).toBe('voice');
    for (const { name } of VOICES) expect(errorOf(answer).message).toContain(name);
  });

  it('differs in the schema, which lists the names of the 21 and accepts ids', async () => {
    const document = (await send(`${gateway.url}/openapi.json`)).json as {
      components: { schemas: Record<string, { properties: Record<string, object> }> };
    };
    const { anyOf } = document.components.schemas.SpeechBody?.properties.voice as {
      anyOf: [{ enum: string[] }, { pattern: string }];
    };
    expect(anyOf[0].enum).toEqual(VOICES.map(({ name }) => name));
    for (const { id } of VOICES) expect(id).toMatch(new RegExp(anyOf[1].pattern));
  });
});
