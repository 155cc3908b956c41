import { describe, expect, it } from '@jest/globals';
import { problemOf, problemsOf, providerAt, TOKEN_PRICE } from '../../test/support/overlay-file.js';
import { loadCatalog } from './catalog-file.js';

describe('a catalog file', () => {
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
      'a route without a cost that is to be ordered by cost',
      {
        models: [
          {
            id: 'aud-v3',
            route_order: 'cheapest',
            routes: [{ provider: 'elevenlabs', upstream_model: 'm' }],
          },
        ],
      },
      /routes\.0\.cost is required with route_order cheapest/,
    ],
    [
      'an order by cost without routes',
      { models: [{ id: 'aud-v3', route_order: 'cheapest' }] },
      /routes is required with route_order cheapest/,
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
