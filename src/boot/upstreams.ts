import { withoutEndSlashes } from '../common/end-slashes.js';
import type { Protocol } from '../providers/ports/protocol.js';
import type { LoadedCatalog } from '../catalog/catalog-file.js';
import type { GatewayConfig, ProviderSetting } from '../config/gateway-config.js';
import { ConfigError } from '../config/load-config.js';
import { readVariable } from '../config/read-variable.js';
import { headerKey } from '../config/setting.js';
import type { ProviderConfig, ProvidersOptions } from '../providers/providers.options.js';
import type { SandboxAccess } from '../config/worker-context.js';
import { endpointChanges } from './endpoint-changes.js';

interface Upstream {
  readonly id: 'openai' | 'video' | 'elevenlabs' | 'ttapi';
  readonly protocol: Protocol;
  readonly access: (config: GatewayConfig) => ProviderSetting | undefined;
  readonly sandboxUrl: (sandbox: SandboxAccess) => string;
}

const withKey = (apiKey: string | undefined, baseUrl: string | undefined) =>
  apiKey === undefined || baseUrl === undefined ? undefined : { apiKey, baseUrl };

/** The built-in providers: their settings, and their base URL at the sandbox. */
const UPSTREAMS: readonly Upstream[] = [
  {
    id: 'openai',
    protocol: 'openai',
    access: (config) => withKey(config.openaiApiKey, config.openaiBaseUrl),
    sandboxUrl: (sandbox) => sandbox.openAiUrl,
  },
  {
    id: 'video',
    protocol: 'openai-video',
    access: (config) => withKey(config.videoApiKey, config.videoBaseUrl),
    sandboxUrl: (sandbox) => sandbox.videoUrl,
  },
  {
    id: 'elevenlabs',
    protocol: 'elevenlabs',
    access: (config) => withKey(config.elevenlabsApiKey, config.elevenlabsBaseUrl),
    sandboxUrl: (sandbox) => sandbox.elevenLabsUrl,
  },
  {
    id: 'ttapi',
    protocol: 'ttapi',
    access: (config) => withKey(config.ttapiApiKey, config.ttapiBaseUrl),
    sandboxUrl: (sandbox) => sandbox.ttapiUrl,
  },
];

/** Whether the sandbox replaces any provider, and whether it replaces every one (interface: `SANDBOX`). */
export function sandboxScope(
  config: GatewayConfig,
  catalog: Pick<LoadedCatalog, 'providers'>,
): 'none' | 'some' | 'all' {
  const keyed = UPSTREAMS.filter((upstream) => upstream.access(config) !== undefined).length;
  if (config.sandbox === 'off') return 'none';
  if (keyed === 0 && (config.sandbox === 'on' || catalog.providers.length === 0)) return 'all';
  return config.sandbox === 'on' && keyed < UPSTREAMS.length ? 'some' : 'none';
}

/** All providers: the configured ones, those of the overlay file, and the sandbox for the rest. */
export function providersOptions(
  config: GatewayConfig,
  catalog: LoadedCatalog,
  sandbox: SandboxAccess | undefined,
): ProvidersOptions {
  const builtIn = UPSTREAMS.flatMap(({ id, protocol, access, sandboxUrl }): ProviderConfig[] => {
    const standIn = sandbox && {
      apiKey: sandbox.apiKey,
      baseUrl: sandboxUrl(sandbox),
      isSandbox: true as const,
    };
    const own = access(config);
    // The sandbox follows the documented protocol, so the operator's changes do not apply to it.
    if (own)
      return [{ id, protocol, ...own, endpointChanges: endpointChanges(catalog.upstreamCalls) }];
    return standIn ? [{ id, protocol, ...standIn }] : [];
  });
  const extra = catalog.providers.map((provider) => ({
    id: provider.id,
    protocol: provider.protocol,
    baseUrl: withoutEndSlashes(provider.base_url),
    apiKey: keyOf(provider.id, provider.api_key_env),
    endpointChanges: endpointChanges(catalog.upstreamCalls),
  }));
  return {
    providers: [...builtIn, ...extra],
    ...(config.upstreamTimeoutMs !== undefined && { upstreamTimeoutMs: config.upstreamTimeoutMs }),
  };
}

function keyOf(provider: string, variable: string): string | undefined {
  if (variable === '') return undefined;
  const key = readVariable(variable);
  if (key === undefined) {
    throw new ConfigError([`${variable}: is required by provider ${provider} of CATALOG_FILE`]);
  }
  const reading = headerKey(key);
  if ('value' in reading) return reading.value;
  throw new ConfigError([`${variable}: ${reading.problem}`]);
}
