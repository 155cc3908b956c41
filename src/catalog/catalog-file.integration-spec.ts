import { describe, expect, it } from '@jest/globals';
import { overlay, problemOf, providerAt, TOKEN_PRICE } from '../../test/support/overlay-file.js';
import { loadCatalog } from './catalog-file.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';

const VIDEO_PRICE = { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: 100 }] };

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

  it('takes how the figures of a shipped vendor are read, and nothing alone of a provider that is none', () => {
    const cost = { figure: 'usage.cost_in_usd_ticks', unit: 'usd' };
    const model = { id: 'vid-xai-imagine', price: VIDEO_PRICE };
    const { rows, providers } = loadCatalog(
      overlay({ models: [model], providers: [{ id: 'xai-video', reported_cost: cost }] }),
    );
    expect(providers).toEqual([]);
    expect(rows.at(-1)?.routes).toEqual([
      {
        provider: 'xai-video',
        upstreamModel: 'grok-imagine-video',
        reportedCost: { figure: 'usage.cost_in_usd_ticks' },
      },
    ]);
    expect(problemOf({ providers: [{ id: 'xai-vide', reported_cost: cost }] })).toContain(
      'providers.0.protocol is required',
    );
  });
});
