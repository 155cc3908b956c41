import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../catalog/catalog-file.js';
import type { SandboxAccess } from '../platform/config/worker-context.js';
import { loadConfig } from '../platform/config/load-config.js';
import { sandboxScope } from './sandboxed.js';
import { playedVendors, providersOptions, unusedProviders } from './provider-configs.js';

const KEY = 'a-key-that-is-also-used-for-text';
const TEXT = { protocol: 'openai', base_url: 'https://api.x.ai/v1', api_key_env: 'XAI_API_KEY' };
const SANDBOX = {
  url: 'http://127.0.0.1:4',
  mediaUrl: 'http://127.0.0.1:4/media',
  apiKey: 'a-key-of-the-sandbox',
  twinHeader: 'x-version',
};
const EVERY_KEY = {
  ...{ OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY, GEMINI_API_KEY: KEY, TTAPI_API_KEY: KEY },
  ...{ ELEVENLABS_API_KEY: KEY, VIDEO_API_KEY: KEY, VIDEO_BASE_URL: 'https://video.example/v1' },
};
const ROW = {
  id: 'vid-x',
  operation: 'video',
  routes: [{ provider: 'xai-video', upstream_model: 'grok-imagine-video' }],
  limits: { max_image_urls: 0 },
  price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: 1_000 }] },
};

/** The providers and the sandbox of a gateway with this overlay. */
function started(overlay: object, settings: NodeJS.ProcessEnv = {}, sandbox?: SandboxAccess) {
  const path = join(mkdtempSync(join(tmpdir(), 'shim-vendor-use-')), 'catalog.json');
  writeFileSync(path, JSON.stringify(overlay));
  const config = loadConfig(settings);
  const catalog = loadCatalog(path);
  const options = providersOptions(config, catalog, sandbox);
  const vendors = options.providers.filter(({ vendor }) => vendor).map(({ id }) => id);
  return {
    scope: sandboxScope(config, catalog),
    vendors,
    unused: unusedProviders(options, catalog.rows),
    played: playedVendors(options),
    protocols: options.providers.map(({ id, protocol }) => `${id} ${protocol}`),
  };
}

afterEach(() => {
  delete process.env.XAI_API_KEY;
});

/** The folder of an operator who has replaced the shipped file. */
function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
  const own = {
    ...{ id: 'xai-video', protocol: 'async-json', key_env: 'XAI_API_KEY' },
    ...{ base_url: 'https://api.x.ai/v1', auth: { in: 'bearer' } },
    submit: { path: '/videos', body: { prompt: '{{prompt}}' }, id: 'id' },
    read: {
      path: '/videos/{id}',
      state: 'state',
      states: { succeeded: ['done'], failed: ['failed'] },
    },
    result: { url: ['video'] },
  };
  writeFileSync(join(folder, 'xai-video.json'), JSON.stringify(own));
  return folder;
}

describe('a shipped vendor', () => {
  it('is off while its key is unset', () => {
    expect(started({ models: [ROW] })).toMatchObject({ scope: 'all', vendors: [] });
  });

  it('is played by the sandbox, where one runs, at its own address alone', () => {
    const { played, vendors } = started({ models: [ROW] }, {}, SANDBOX);
    expect(vendors).toContain('xai-video');
    expect(played.map(({ id }) => id)).toEqual(vendors);
    const addresses = played.map(({ id, base_url: base, origins }) => [id, base, origins]);
    expect(addresses).toEqual(vendors.map((id) => [id, `${SANDBOX.url}/vendors/${id}`, undefined]));
  });

  it('is real where its key is set, though a sandbox runs', () => {
    process.env.XAI_API_KEY = KEY;
    const { played, vendors } = started({ models: [ROW] }, { SANDBOX: 'on' }, SANDBOX);
    expect(vendors).toContain('xai-video');
    expect(played.map(({ id }) => id)).not.toContain('xai-video');
  });

  it('without a key has the sandbox started where it is on, though every other provider is real', () => {
    expect(started({}, { ...EVERY_KEY, SANDBOX: 'on' }).scope).toBe('some');
    expect(started({}, EVERY_KEY).scope).toBe('none');
    expect(started({}, { SANDBOX: 'off' }).scope).toBe('none');
  });

  it('gives way to a provider of the catalog file with its id, played or not', () => {
    const { played, protocols } = started(
      { providers: [{ id: 'xai-video', ...TEXT, api_key_env: '' }] },
      { SANDBOX: 'on', VENDORS_DIR: ownFolder() },
      SANDBOX,
    );
    expect(played.map(({ id }) => id)).not.toContain('xai-video');
    expect(protocols).toContain('xai-video openai');
  });

  it('that sells nothing leaves the sandbox on, and nobody is warned, though its key is there', () => {
    process.env.XAI_API_KEY = KEY;
    expect(started({})).toMatchObject({
      scope: 'all',
      vendors: ['xai-video'],
      unused: [],
    });
  });

  it('with a route ends the sandbox', () => {
    process.env.XAI_API_KEY = KEY;
    expect(started({ models: [ROW] })).toMatchObject({ scope: 'none', unused: [] });
  });

  it('whose key is that of a text provider is not told as unused', () => {
    process.env.XAI_API_KEY = KEY;
    const { unused } = started({ providers: [{ id: 'grok', ...TEXT }] });
    expect(unused).toEqual(['grok']);
  });

  it('gives way to a provider of the catalog file with its id', () => {
    process.env.XAI_API_KEY = KEY;
    const { vendors, protocols } = started({ providers: [{ id: 'xai-video', ...TEXT }] });
    expect(vendors).toEqual([]);
    expect(protocols).toContain('xai-video openai');
  });

  it('that the operator replaced is told where it sells nothing', () => {
    process.env.XAI_API_KEY = KEY;
    expect(started({}, { VENDORS_DIR: ownFolder() }).unused).toEqual(['xai-video']);
  });

  it('that the operator replaced is refused beside a provider of its id', () => {
    process.env.XAI_API_KEY = KEY;
    const start = () =>
      started({ providers: [{ id: 'xai-video', ...TEXT }] }, { VENDORS_DIR: ownFolder() });
    expect(start).toThrow('VENDORS_DIR: xai-video.json: id: another provider has this id');
  });
});
