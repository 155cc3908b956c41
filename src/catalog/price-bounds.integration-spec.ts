import { describe, expect, it } from '@jest/globals';
import { problemOf, TOKEN_PRICE } from '../../test/support/overlay-file.js';

describe('loadCatalog', () => {
  it.each([
    [{ id: 'aud-v4', price: { unit: 'code_point', micro_usd: 9e15 } }, 'price.micro_usd'],
    [
      { id: 'aud-v4', price: { unit: 'code_point', micro_usd: 100_000_000_001 } },
      'price.micro_usd',
    ],
    [{ id: 'gen-image-2', price: { unit: 'request', micro_usd: 9e15 } }, 'price.micro_usd'],
    [
      { id: 'song-music', price: { unit: 'request', micro_usd: 1, max_mode_micro_usd: 9e15 } },
      'price.max_mode_micro_usd',
    ],
    [{ id: 'aud-dubbing-v1', price: { unit: 'measured_second', micro_usd: 1e12 } }, 'micro_usd'],
    [{ id: 'aud-music-v2.5', price: { unit: 'requested_second', micro_usd: 1e12 } }, 'micro_usd'],
    [
      { id: 'gen-5', price: { ...TOKEN_PRICE, input_micro_usd_per_million: 1e12 } },
      'price.input_micro_usd_per_million',
    ],
    [
      { id: 'gen-5', price: { ...TOKEN_PRICE, output_micro_usd_per_million: 9e15 } },
      'price.output_micro_usd_per_million',
    ],
    [
      {
        id: 'vid-omni',
        price: { unit: 'video', by_seconds: [{ seconds: '10', micro_usd: 9e15 }] },
      },
      'price.by_seconds',
    ],
    [
      {
        id: 'gen-5',
        limits: { max_output_tokens: 1e7 },
        price: { ...TOKEN_PRICE, output_micro_usd_per_million: 2e14 },
      },
      'price.output',
    ],
  ])('refuses a price with which the largest request could not be paid: %j', (entry, field) => {
    expect(problemOf({ models: [entry] })).toMatch(/^CATALOG_FILE: models\.0: price\./);
    expect(problemOf({ models: [entry] })).toContain(field);
    expect(problemOf({ models: [entry] })).toContain(`(model ${entry.id})`);
  });

  it('accepts the highest price at which the largest request can be paid', () => {
    const price = { unit: 'code_point', micro_usd: 100_000_000_000 };
    expect(problemOf({ models: [{ id: 'aud-v4', price }] })).toBe('none');
  });
});
