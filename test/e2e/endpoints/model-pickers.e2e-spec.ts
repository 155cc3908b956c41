import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';

interface Shown {
  readonly id: string;
  readonly supported_endpoint_types: readonly string[];
  readonly [field: string]: unknown;
}

const file = join(mkdtempSync(join(tmpdir(), 'shim-pickers-')), 'overlay.json');
const OVERLAY = {
  models: [
    { id: 'gen-5-mini', aliases: ['gpt-4o-mini'] },
    {
      id: 'gen-local',
      operation: 'chat',
      routes: [{ provider: 'openai', upstream_model: 'local' }],
      price: { unit: 'token', input_micro_usd_per_million: 0, output_micro_usd_per_million: 30 },
      limits: { max_output_tokens: 8_000, context_length: 32_000 },
    },
  ],
};

let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  writeFileSync(file, JSON.stringify(OVERLAY));
  gateway = await startTestGateway({ CATALOG_FILE: file, PUBLIC_URL: 'https://gw.example/shim' });
  account = await gateway.account();
});
afterAll(() => gateway.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  send(gateway.url + path, { headers: { ...account.headers, ...headers } });
const list = async () => (await get('/v1/models')).json as { data: Shown[] } & Shown;
const shown = async (id: string) => (await list()).data.find((model) => model.id === id);

/** The fields that the schema of OpenRouter's models requires. */
const REQUIRED = {
  architecture: {
    modality: expect.stringMatching(/^[a-z+]+->[a-z+]+$/),
    input_modalities: expect.any(Array),
    output_modalities: expect.any(Array),
    tokenizer: 'Other',
    instruct_type: null,
  },
  canonical_slug: expect.any(String),
  created: expect.any(Number),
  default_parameters: null,
  description: expect.any(String),
  links: { details: expect.any(String) },
  name: expect.any(String),
  per_request_limits: null,
  pricing: {
    prompt: expect.stringMatching(/^\d+(\.\d+)?$/),
    completion: expect.stringMatching(/^\d+(\.\d+)?$/),
  },
  supported_parameters: expect.arrayContaining(['model']),
  top_provider: { is_moderated: false },
};

describe('what model pickers read of GET /v1/models', () => {
  it('is on every model, of a list that says that it is whole', async () => {
    const { data, total_count: count, links } = await list();
    expect([count, links]).toEqual([data.length, { next: null }]);
    for (const model of data) expect(model).toMatchObject(REQUIRED);
  });

  it('is name, context length, modalities and the price of a token in USD (G-90)', async () => {
    expect(await shown('gen-5-mini')).toMatchObject({
      name: 'gen-5-mini',
      context_length: 400_000,
      architecture: { modality: 'text+image->text', output_modalities: ['text'] },
      pricing: { prompt: '0.00000025', completion: '0.000002' },
      price: { unit: 'token', input_per_million: '250000', output_per_million: '2000000' },
      top_provider: { context_length: 400_000, max_completion_tokens: 128_000 },
      supported_voices: null,
      links: { details: '/shim/v1/models/gen-5-mini' },
    });
  });

  it('names text as the output of models for chats alone', async () => {
    for (const { supported_endpoint_types: types, architecture } of (await list()).data) {
      const { output_modalities: outputs } = architecture as { output_modalities: string[] };
      expect(outputs.includes('text')).toBe(types.includes('chat-completions'));
    }
  });

  it('tells other prices as requests, or in `price` alone, and voices', async () => {
    expect(await shown('song-music')).toMatchObject({
      pricing: { prompt: '0', completion: '0', request: '0.075' },
      price: { unit: 'request', amount_microusd: '75000' },
      context_length: null,
    });
    const speech = await shown('aud-v4');
    expect(speech).toMatchObject({ pricing: { prompt: '0', completion: '0' } });
    expect(speech?.supported_voices).toContain('Sarah');
  });

  it('shows the context length and the small price of a row of the overlay', async () => {
    expect(await shown('gen-local')).toMatchObject({
      context_length: 32_000,
      pricing: { prompt: '0', completion: '0.00000000003' },
    });
  });

  it('names the model of an alias', async () => {
    const alias = { id: 'gpt-4o-mini', name: 'gpt-4o-mini', canonical_slug: 'gen-5-mini' };
    expect(await shown('gpt-4o-mini')).toMatchObject(alias);
  });

  it('is in the single read too', async () => {
    expect((await get('/v1/models/gen-5')).json).toMatchObject((await shown('gen-5')) ?? {});
  });
});

describe('the answer', () => {
  it.each(['/v1/models', '/v1/models/gen-5'])(
    'of %s may be kept by its caller and is 304 while it is the same',
    async (path) => {
      const first = await get(path);
      const etag = first.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"[\w-]+"$/);
      expect(first.headers.get('cache-control')).toBe('private');
      expect(first.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const again = await get(path, { 'if-none-match': `W/"other", W/${etag}` });
      expect([again.status, again.bytes.length]).toEqual([304, 0]);
      expect([again.headers.get('etag'), again.headers.get('cache-control')]).toEqual([
        etag,
        'private',
      ]);
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  it('has another tag for a key that sees less', async () => {
    const { headers } = await get('/v1/models');
    const key = await gateway.keyOf(account.accountId, { allowedModels: ['gen-5'] });
    const etag = headers.get('etag') ?? '';
    const less = await send(`${gateway.url}/v1/models`, {
      headers: { authorization: `Bearer ${key}`, 'if-none-match': etag },
    });
    expect((less.json as { data: Shown[] }).data.map(({ id }) => id)).toEqual(['gen-5']);
  });
});
