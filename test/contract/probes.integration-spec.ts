import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '../../src/common/time/clock.js';
import type { ProviderConfig } from '../../src/providers/providers.options.js';
import { ProviderRegistry } from '../../src/providers/routing/provider-registry.js';
import { StubUpstream } from '../support/stub-upstream.js';

const KEY = 'a-key-of-the-provider';

/** The request of each protocol, the header with the key, and a list with the model `m-1`. */
const PROTOCOLS = [
  ['openai', '/models', 'authorization', { object: 'list', data: [{ id: 'm-1' }] }],
  ['openai-video', '/models', 'authorization', { object: 'list', data: [{ id: 'm-1' }] }],
  ['anthropic', '/v1/models?limit=1000', 'x-api-key', { data: [{ id: 'm-1' }], has_more: false }],
  ['gemini', '/models?pageSize=1000', 'x-goog-api-key', { models: [{ name: 'models/m-1' }] }],
] as const;

describe('a probe', () => {
  let upstream: StubUpstream;
  const registries: ProviderRegistry[] = [];
  beforeAll(async () => {
    upstream = await StubUpstream.start();
  });
  afterEach(async () => {
    await Promise.all(registries.splice(0).map((registry) => registry.onModuleDestroy()));
  });
  afterAll(() => upstream.stop());

  const probe = (protocol: ProviderConfig['protocol']) => {
    const provider = { id: 'p', protocol, baseUrl: upstream.url, apiKey: KEY };
    const registry = new ProviderRegistry(
      { providers: [provider], upstreamTimeoutMs: 500 },
      new SystemClock(),
    );
    registries.push(registry);
    const { signal } = new AbortController();
    return registry.probeOf('p')!.probe({ signal });
  };

  it.each(PROTOCOLS)(
    'at %s asks for the list of models with the key',
    async (protocol, path, header, list) => {
      upstream.reply = (response) => response.end(JSON.stringify(list));
      expect(await probe(protocol)).toMatchObject({ models: ['m-1'] });
      const seen = upstream.seen.at(-1);
      expect([seen?.method, seen?.url]).toEqual(['GET', path]);
      expect(seen?.headers[header]).toContain(KEY);
    },
  );

  it('at elevenlabs takes its list, which says nothing about other names', async () => {
    upstream.reply = (response) => response.end(JSON.stringify([{ model_id: 'eleven_v3' }]));
    expect(await probe('elevenlabs')).toMatchObject({ models: null });
    expect(upstream.seen.at(-1)).toMatchObject({ method: 'GET', url: '/v1/models' });
  });

  it('at ttapi takes the answer that a job does not exist', async () => {
    upstream.reply = (response) =>
      response.writeHead(400).end(JSON.stringify({ status: 'FAILED', message: 'job not found' }));
    expect(await probe('ttapi')).toMatchObject({ models: null });
  });

  it('does not trust a part of a list', async () => {
    upstream.reply = (response) =>
      response.end(JSON.stringify({ data: [{ id: 'm-2' }], has_more: true }));
    expect(await probe('anthropic')).toMatchObject({ models: null });
  });

  it.each(['openai', 'anthropic', 'gemini', 'elevenlabs', 'ttapi', 'openai-video'] as const)(
    'at %s fails where the key is refused, the provider is silent, or the answer is a page',
    async (protocol) => {
      upstream.reply = (response) => response.writeHead(401).end('{}');
      await expect(probe(protocol)).rejects.toMatchObject({ kind: 'account', upstreamStatus: 401 });
      upstream.reply = () => undefined;
      await expect(probe(protocol)).rejects.toMatchObject({ kind: 'timeout' });
      upstream.reply = (response) => response.end('<!doctype html>');
      await expect(probe(protocol)).rejects.toMatchObject({ kind: 'http_error' });
    },
  );
});
