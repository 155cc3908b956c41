import { describe, expect, it } from '@jest/globals';
import { overlay, problemsOf } from '../../test/support/overlay-file.js';
import { loadCatalog } from './catalog-file.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';

const problemOf = (content: unknown): string => problemsOf(content).join() || 'none';

const TOKEN_PRICE = {
  unit: 'token',
  input_micro_usd_per_million: 1,
  output_micro_usd_per_million: 2,
};
const providerAt = (baseUrl: string) => ({
  id: 'local',
  protocol: 'openai',
  base_url: baseUrl,
  api_key_env: '',
});

describe('loadCatalog', () => {
  it('gives the built-in rows without a file', () => {
    expect(loadCatalog(undefined).rows).toBe(BUILT_IN_MODELS);
  });

  it('disables a model by its id alone', () => {
    const { rows } = loadCatalog(overlay({ models: [{ id: 'aud-v3', enabled: false }] }));
    expect(rows.find((row) => row.id === 'aud-v3')).toMatchObject({
      enabled: false,
      operation: 'speech',
    });
    expect(rows).toHaveLength(BUILT_IN_MODELS.length);
  });

  it('changes price, limits and routes of a built-in model', () => {
    const { rows } = loadCatalog(
      overlay({
        models: [
          {
            id: 'aud-v3',
            price: { unit: 'code_point', micro_usd: 150 },
            limits: { max_input: 3000 },
            routes: [{ provider: 'other', upstream_model: 'x' }],
          },
        ],
      }),
    );
    expect(rows.find((row) => row.id === 'aud-v3')).toMatchObject({
      price: { unit: 'code_point', microUsd: 150n },
      limits: { maxInput: 3000 },
      routes: [{ provider: 'other', upstreamModel: 'x' }],
    });
  });

  it('says how many output tokens a chat model holds at least without a cap', () => {
    const models = [
      { id: 'gen-5', min_output_tokens: 100 },
      { id: 'gen-5-mini', hidden_reasoning: false },
    ];
    const { rows } = loadCatalog(overlay({ models }));
    const chats = rows.filter((row) => row.operation === 'chat');
    expect(chats.map((row) => [row.id, 'minOutputTokens' in row && row.minOutputTokens])).toEqual([
      ['gen-5', 100],
      ['gen-5-mini', 4_096],
      ['gen-4-mini', 1_024],
    ]);
  });

  it('says of a chat model whether it thinks unseen', () => {
    const { rows } = loadCatalog(overlay({ models: [{ id: 'gen-5', hidden_reasoning: false }] }));
    const chats = rows.filter(({ operation }) => operation === 'chat');
    expect(chats.map((row) => [row.id, 'hiddenReasoning' in row && row.hiddenReasoning])).toEqual([
      ['gen-5', false],
      ['gen-5-mini', true],
      ['gen-4-mini', false],
    ]);
  });

  it('adds a model and a provider', () => {
    const loaded = loadCatalog(
      overlay({
        models: [
          {
            id: 'gen-local',
            operation: 'chat',
            routes: [{ provider: 'local', upstream_model: 'llama' }],
            price: TOKEN_PRICE,
            limits: { max_output_tokens: 4096 },
          },
        ],
        providers: [
          {
            id: 'local',
            protocol: 'openai',
            base_url: 'http://127.0.0.1:9/v1',
            api_key_env: 'LOCAL_KEY',
          },
        ],
      }),
    );
    expect(loaded.rows.at(-1)).toMatchObject({
      id: 'gen-local',
      enabled: true,
      hiddenReasoning: false,
    });
    expect(loaded.providers).toHaveLength(1);
  });

  it('takes a song model of an existing shape', () => {
    const loaded = loadCatalog(
      overlay({
        models: [
          {
            id: 'song-waltz',
            operation: 'song',
            limits: { shape: 'cover' },
            price: { unit: 'request', micro_usd: 75_000 },
            routes: [{ provider: 'ttapi', upstream_model: 'suno/cover' }],
          },
        ],
      }),
    );
    expect(loaded.rows.at(-1)).toMatchObject({ id: 'song-waltz', limits: { shape: 'cover' } });
  });

  it.each(['SECRET_KEY', 'DATABASE_URL', 'ADMIN_TOKEN', 'REDIS_URL', 'AWS_SECRET_ACCESS_KEY'])(
    'takes no %s of the gateway for the key of a provider',
    (variable) => {
      const provider = { ...providerAt('http://127.0.0.1:9/v1'), api_key_env: variable };
      expect(problemOf({ providers: [provider] })).toBe(
        `CATALOG_FILE: providers.0: api_key_env: ${variable} is a setting of the gateway, and no key of a provider (provider local)`,
      );
    },
  );

  it('takes the key of a built-in provider for another one too', () => {
    const provider = { ...providerAt('http://127.0.0.1:9/v1'), api_key_env: 'OPENAI_API_KEY' };
    expect(problemOf({ providers: [provider] })).toBe('none');
  });

  it.each([
    ['unknown keys', { models: [{ id: 'aud-v3', enable: false }] }, /models\.0\.enable/],
    ['an unknown root key', { model: [] }, /model/],
    ['broken JSON', '{', /JSON/],
    [
      'the weight of a route of an operation that is no text',
      {
        models: [
          { id: 'aud-v3', routes: [{ provider: 'elevenlabs', upstream_model: 'm', weight: 1 }] },
        ],
      },
      /routes\.0\.weight does not fit this operation/,
    ],
    [
      'the protocol of text of a route of another operation',
      {
        models: [
          {
            id: 'gen-image-2',
            routes: [{ provider: 'openai', upstream_model: 'm', upstream_protocol: 'responses' }],
          },
        ],
      },
      /routes\.0\.upstream_protocol does not fit this operation/,
    ],
    [
      'a new model without a price',
      { models: [{ id: 'x', operation: 'speech', limits: { max_input: 1 } }] },
      /price is required/,
    ],
    ['a new model without an operation', { models: [{ id: 'x' }] }, /operation is required/],
    [
      'a price of another unit',
      { models: [{ id: 'aud-v3', price: { unit: 'request', micro_usd: 1 } }] },
      /must be code_point/,
    ],
    [
      'a price with a fraction',
      { models: [{ id: 'aud-v3', price: { unit: 'code_point', micro_usd: 0.5 } }] },
      /micro_usd/,
    ],
    [
      'a price without its amount',
      { models: [{ id: 'aud-v3', price: { unit: 'code_point' } }] },
      /price\.micro_usd is required/,
    ],
    [
      'limits of another operation',
      { models: [{ id: 'aud-v3', limits: { max_seconds: 3 } }] },
      /limits\.max_seconds does not fit/,
    ],
    [
      'unseen reasoning of what is no chat',
      { models: [{ id: 'aud-v3', hidden_reasoning: true }] },
      /hidden_reasoning/,
    ],
    [
      'fewest output tokens of what is no chat',
      { models: [{ id: 'aud-v3', min_output_tokens: 5 }] },
      /min_output_tokens does not fit/,
    ],
    [
      'more fewest output tokens than the model makes',
      { models: [{ id: 'gen-4-mini', min_output_tokens: 32_769 }] },
      /min_output_tokens must be at most 32768/,
    ],
    [
      'changes of calls, which former versions read',
      { upstream_calls: [{ call: 'suno/bpm', path: '/v2/bpm' }] },
      /upstream_calls is no longer read: .* Remove the key$/,
    ],
    [
      'stems of a model that is no song',
      { models: [{ id: 'aud-v3', limits: { stem_types: ['bass'] } }] },
      /limits\.stem_types does not fit/,
    ],
    [
      'a chat model without its limit',
      { models: [{ id: 'x', operation: 'chat', price: TOKEN_PRICE }] },
      /limits\.max_output_tokens is required/,
    ],
    [
      'a pattern that is none',
      { models: [{ id: 'vid-omni', limits: { size_pattern: '(' } }] },
      /size_pattern must be a regular expression/,
    ],
    ['a port that is none', { providers: [providerAt('http://a:99999/v1')] }, /base_url must be/],
    ['an address with a query', { providers: [providerAt('http://a/v1?v=1')] }, /base_url must be/],
    ['what is no object', [], /^CATALOG_FILE: It must be a JSON object$/],
    ['a change of operation', { models: [{ id: 'aud-v3', operation: 'chat' }] }, /is speech/],
  ])('refuses %s', (_what, content, problem) => {
    expect(problemOf(content)).toMatch(problem);
  });

  it.each([
    [32, /^none$/],
    [33, /constants must hold at most 50 fields by name, with at most 32 levels \(model gen-5\)$/],
    [9_000, /32 levels \(model gen-5\)$/],
    [100_000, /32 levels \(model gen-5\)$/],
  ])('of constants of %d levels says: %p', (levels, problem) => {
    const constant = '['.repeat(levels - 1) + ']'.repeat(levels - 1);
    const content = `{"models":[{"id":"gen-5","constants":{"a":${constant}}}]}`;
    expect(problemOf(content)).toMatch(problem);
  });

  it('names every fault, each with its model or provider and its path once', () => {
    const problems = problemsOf({
      model: [],
      models: [
        { id: 'aud-v3', enable: false, price: { unit: 'code_point', micro_usd: 0.5 } },
        { id: 'new', operation: 'chat', limits: { max_input: 1 }, rename: { model: 'x' } },
        { id: 'gen-5', headers: { 'a b': 'x' }, timeout_ms: 0 },
        { id: 'aud-v4', enabled: false },
      ],
      providers: [{ ...providerAt('http://a/v1?v=1'), protocol: 'odd' }],
    });
    expect(problems.map((problem) => problem.replace('CATALOG_FILE: ', ''))).toEqual([
      'model is not a field here',
      'models.0.enable is not a field here (model aud-v3)',
      expect.stringMatching(/^models\.0\.price\.micro_usd must be .* \(model aud-v3\)$/),
      expect.stringMatching(/^models\.2\.headers must map .* \(model gen-5\)$/),
      expect.stringMatching(/^models\.2\.timeout_ms must be .* \(model gen-5\)$/),
      expect.stringMatching(/^providers\.0\.protocol must be .* \(provider local\)$/),
      expect.stringMatching(/^providers\.0\.base_url must be .* \(provider local\)$/),
      'models.1: price is required for a new model (model new)',
      'models.1: rename.model must not be set here: the gateway decides on it (model new)',
      'models.1: limits.max_output_tokens is required (model new)',
      'models.1: limits.max_input does not fit this operation (model new)',
    ]);
  });

  it('refuses a file that is not there', () => {
    const path = '/none/overlay.json';
    expect(() => loadCatalog(path)).toThrow(`CATALOG_FILE: ${path} cannot be read (ENOENT)`);
  });
});
