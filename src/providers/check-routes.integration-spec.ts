import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadCatalog } from '../catalog/catalog-file.js';
import { ConfigError } from '../platform/config/load-config.js';
import { loadConfig } from '../platform/config/load-config.js';
import { providersOptions } from './provider-configs.js';

const path = join(mkdtempSync(join(tmpdir(), 'routes-')), 'overlay.json');
const PROVIDERS = [
  ['my-openai', 'openai'],
  ['my-elevenlabs', 'elevenlabs'],
  ['my-ttapi', 'ttapi'],
  ['my-video', 'openai-video'],
  ['my-gemini', 'gemini'],
  ['my-deepgram', 'deepgram'],
  ['my-minimax', 'minimax'],
].map(([id, protocol]) => ({ id, protocol, base_url: 'http://127.0.0.1:9', api_key_env: '' }));

function problemsOf(id: string, provider: string, upstreamModel: string, more = {}): string {
  const routes = [{ provider, upstream_model: upstreamModel }];
  const overlay = { models: [{ id, routes, ...more }], providers: PROVIDERS };
  writeFileSync(path, JSON.stringify(overlay));
  try {
    providersOptions(loadConfig({ SANDBOX: 'off' }), loadCatalog(path), undefined);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join();
    throw error;
  }
  return 'none';
}

describe('a route of the overlay', () => {
  it.each(['ttapi', 'my-ttapi'])(
    'is refused where %s has no endpoint of its name, with row and field',
    (provider) => {
      expect(problemsOf('song-lyrics', provider, 'lyrics')).toBe(
        'CATALOG_FILE: model song-lyrics: routes.0.upstream_model lyrics is no name that ttapi takes',
      );
      expect(problemsOf('song-lyrics', provider, 'suno/lyrics')).toBe('none');
    },
  );

  it.each([
    ['gen-5', 'my-ttapi', 'ttapi, which has no operation chat'],
    ['gen-5', 'elevenlabs', 'elevenlabs, which has no operation chat'],
    ['aud-english-sts-v2', 'my-openai', 'openai, which has no operation voice-change'],
    ['vid-omni', 'openai', 'openai, which has no operation video'],
    ['song-bpm', 'my-video', 'openai-video, which has no operation song'],
  ])('is refused where its provider cannot do the work of %s: %s', (id, provider, says) => {
    expect(problemsOf(id, provider, 'suno/bpm')).toContain(
      `model ${id}: routes.0.provider speaks ${says}`,
    );
  });

  it.each([
    ['my-deepgram', { constants: { sample_rate: 48_000 } }, 'sample_rate', 'deepgram'],
    ['my-deepgram', { drop: ['container'] }, 'container', 'deepgram'],
    ['my-deepgram', { rename: { smart_format: 'utterances' } }, 'utterances', 'deepgram'],
    ['my-minimax', { constants: { output_format: 'url' } }, 'output_format', 'minimax'],
    ['my-minimax', { rename: { voice_setting: 'voice' } }, 'voice_setting', 'minimax'],
  ])(
    'is refused where what %s is sent would not be what is sold: %j',
    (provider, terms, name, protocol) => {
      const row = { voices: { Lady: 'lady' }, ...terms };
      expect(problemsOf('aud-v4', provider, 'm', row)).toBe(
        `CATALOG_FILE: model aud-v4: ${name} must not be changed: answers of ${protocol} depend on it`,
      );
      const allowed = {
        voices: row.voices,
        constants: { language_boost: 'auto' },
        drop: ['smart_format'],
      };
      expect(problemsOf('aud-v4', provider, 'm', allowed)).toBe('none');
    },
  );

  it.each([
    ['gen-5', 'openai'],
    ['aud-v4', 'my-elevenlabs'],
    ['vid-omni', 'video'],
    ['gen-image-2', 'my-openai'],
  ])('is refused for a name with a blank at its end: %s', (id, provider) => {
    expect(problemsOf(id, provider, 'model ')).toContain(`model ${id}: routes.0.upstream_model`);
    expect(problemsOf(id, provider, 'org/Model 7B:free')).toBe('none');
  });

  it('is refused where its provider speaks one protocol of text only, and it names one', () => {
    const thinks = (provider: string, upstream_protocol: string) =>
      problemsOf('gen-5', provider, 'gemini-3', {
        routes: [{ provider, upstream_model: 'gemini-3', upstream_protocol }],
      });
    expect(thinks('my-gemini', 'responses')).toBe(
      'CATALOG_FILE: model gen-5: routes.0.upstream_protocol does not fit a provider that speaks gemini',
    );
    expect(thinks('my-openai', 'responses')).toBe('none');
    expect(thinks('openai', 'chat')).toBe('none');
    expect(thinks('openai', 'messages')).toContain('routes.0.upstream_protocol');
  });

  it.each([
    ['aud-v4', 'my-openai', 'openai'],
    ['aud-v4', 'gemini', 'gemini'],
    ['aud-v4-dialogue', 'my-gemini', 'gemini'],
    ['aud-v4-dialogue', 'my-openai', 'openai'],
  ])('of %s needs voices of its own at %s', (id, provider, protocol) => {
    expect(problemsOf(id, provider, 'm')).toBe(
      `CATALOG_FILE: model ${id}: voices is required: ${protocol} has its own`,
    );
    expect(problemsOf(id, provider, 'm', { voices: { Kore: 'Kore' } })).toBe('none');
  });

  it.each([
    ['request', 'elevenlabs', 'requested_second', 'elevenlabs'],
    ['requested_second', 'my-minimax', 'request', 'minimax'],
  ])('of music by the %s is refused at %s', (unit, provider, wanted, protocol) => {
    const music = { operation: 'composition', price: { unit, micro_usd: 1 } };
    expect(problemsOf('aud-x', provider, 'm', music)).toBe(
      `CATALOG_FILE: model aud-x: price.unit must be ${wanted} at a provider that speaks ${protocol}`,
    );
    const price = { unit: wanted, micro_usd: 1 };
    expect(problemsOf('aud-x', provider, 'm', { ...music, price })).toBe('none');
  });

  it('does not change what the price of a built-in model counts', () => {
    const price = { unit: 'request', micro_usd: 1 };
    expect(problemsOf('aud-music-v2.5', 'elevenlabs', 'm', { price })).toContain(
      'price.unit must be requested_second for this model',
    );
  });

  it.each(['a/b', '..', 'models/m', 'm:x'])(
    'is refused for the name %s, which cannot stand in a path of gemini',
    (name) => {
      expect(problemsOf('gen-image-2', 'my-gemini', name)).toContain('no name that gemini takes');
    },
  );

  it('may name a provider that is configured nowhere: its model is not listed', () => {
    expect(problemsOf('gen-5', 'nowhere', 'm')).toBe('none');
  });
});
