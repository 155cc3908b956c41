import type { GatewayConfig, ProviderSetting } from './gateway-config.js';

const apiKeyAuth = (
  apiKey: string | undefined,
  baseUrl: string | undefined,
): ProviderSetting | undefined =>
  apiKey === undefined || baseUrl === undefined ? undefined : { apiKey, baseUrl };

/** How the settings give access to each built-in provider; undefined where its key or its address is unset. */
export const PROVIDER_ACCESS = {
  openai: (config: GatewayConfig) => apiKeyAuth(config.openaiApiKey, config.openaiBaseUrl),
  video: (config: GatewayConfig) => apiKeyAuth(config.videoApiKey, config.videoBaseUrl),
  elevenlabs: (config: GatewayConfig) =>
    apiKeyAuth(config.elevenlabsApiKey, config.elevenlabsBaseUrl),
  ttapi: (config: GatewayConfig) => apiKeyAuth(config.ttapiApiKey, config.ttapiBaseUrl),
};

/**
 * Whether the sandbox replaces any provider, and whether it serves every one (docs/reference/configuration.md). Providers of
 * `CATALOG_FILE` are always real.
 */
export function sandboxScope(
  config: GatewayConfig,
  catalog: { readonly providers: readonly unknown[] },
): 'none' | 'some' | 'all' {
  const all = Object.values(PROVIDER_ACCESS);
  const keyed = all.filter((access) => access(config) !== undefined).length;
  if (config.sandbox === 'off') return 'none';
  if (keyed === 0 && catalog.providers.length === 0) return 'all';
  return config.sandbox === 'on' && keyed < all.length ? 'some' : 'none';
}
