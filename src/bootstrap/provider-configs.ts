import { trimTrailingSlashes } from '../common/trim-trailing-slashes.js';
import type { Protocol } from '../providers/ports/protocol.js';
import type { LoadedCatalog } from '../catalog/catalog-file.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { ConfigError } from '../platform/config/load-config.js';
import { readVariable } from '../platform/config/read-variable.js';
import { PROVIDER_ACCESS } from '../platform/config/sandbox-scope.js';
import { headerKey } from '../platform/config/setting.js';
import type { ProviderConfig, ProvidersOptions } from '../providers/providers.options.js';
import type { SandboxAccess } from '../platform/config/worker-context.js';
import { checkRoutes } from './check-routes.js';

interface Upstream {
  readonly id: keyof typeof PROVIDER_ACCESS;
  readonly protocol: Protocol;
  readonly sandboxUrl: (sandbox: SandboxAccess) => string;
}

/** The built-in providers, and their base URL at the sandbox. */
const UPSTREAMS: readonly Upstream[] = [
  {
    id: 'openai',
    protocol: 'openai',
    sandboxUrl: (sandbox) => sandbox.openAiUrl,
  },
  {
    id: 'video',
    protocol: 'openai-video',
    sandboxUrl: (sandbox) => sandbox.videoUrl,
  },
  {
    id: 'elevenlabs',
    protocol: 'elevenlabs',
    sandboxUrl: (sandbox) => sandbox.elevenLabsUrl,
  },
  {
    id: 'ttapi',
    protocol: 'ttapi',
    sandboxUrl: (sandbox) => sandbox.ttapiUrl,
  },
];

const BUILT_IN_PROTOCOLS = new Map(UPSTREAMS.map(({ id, protocol }) => [id as string, protocol]));

/**
 * All providers: the configured ones, those of the overlay file, and the sandbox for the rest. Throws ConfigError for a
 * route that its adapter cannot use, and for a provider without its key.
 */
export function providersOptions(
  config: GatewayConfig,
  catalog: LoadedCatalog,
  sandbox: SandboxAccess | undefined,
): ProvidersOptions {
  checkRoutes(catalog, BUILT_IN_PROTOCOLS);
  const builtIn = UPSTREAMS.flatMap(({ id, protocol, sandboxUrl }): ProviderConfig[] => {
    const standIn = sandbox && {
      apiKey: sandbox.apiKey,
      baseUrl: sandboxUrl(sandbox),
      isSandbox: true as const,
    };
    const own = PROVIDER_ACCESS[id](config);
    if (own) return [{ id, protocol, ...own }];
    return standIn ? [{ id, protocol, ...standIn }] : [];
  });
  const extra = catalog.providers.map((provider) => ({
    id: provider.id,
    protocol: provider.protocol,
    baseUrl: trimTrailingSlashes(provider.base_url),
    apiKey: keyOf(provider.id, provider.api_key_env),
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
