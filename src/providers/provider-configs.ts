import { trimTrailingSlashes } from '../common/parse-url.js';
import type { LoadedCatalog } from '../catalog/catalog-file.js';
import type { ModelRow } from '../catalog/model-row.js';
import { OPERATIONS } from '../catalog/operations.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { ConfigError } from '../platform/config/load-config.js';
import { readProviderKey } from '../platform/config/environment-variables.js';
import { headerKey } from '../platform/config/setting.js';
import type { ProviderConfig, ProvidersOptions } from './providers.options.js';
import type { SandboxAccess } from '../platform/config/worker-context.js';
import {
  accessTo,
  BUILT_IN_PROVIDERS,
  hasOwnVoices,
  type Protocol,
  routeFault,
} from './providers.js';

const BUILT_IN_PROTOCOLS = new Map(BUILT_IN_PROVIDERS.map(({ id, protocol }) => [id, protocol]));

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
  const builtIn = BUILT_IN_PROVIDERS.flatMap((provider): ProviderConfig[] => {
    const { id, protocol, sandboxPath, keyVariable } = provider;
    const own = accessTo(provider, config);
    if (own) return [{ id, protocol, keyVariable, ...own }];
    if (!sandbox) return [];
    const baseUrl = sandbox.url + sandboxPath;
    return [{ id, protocol, baseUrl, apiKey: sandbox.apiKey, keyVariable, isSandbox: true }];
  });
  const extra = catalog.providers.map((provider) => ({
    id: provider.id,
    protocol: provider.protocol,
    baseUrl: trimTrailingSlashes(provider.base_url),
    apiKey: keyOf(provider.id, provider.api_key_env),
    keyVariable: provider.api_key_env || undefined,
  }));
  return {
    providers: [...builtIn, ...extra],
    ...(config.upstreamTimeoutMs !== undefined && { upstreamTimeoutMs: config.upstreamTimeoutMs }),
  };
}

/** The ids of the providers that the sandbox replaces. */
export function sandboxedOf({ providers }: ProvidersOptions): string[] {
  return providers.filter(({ isSandbox }) => isSandbox === true).map(({ id }) => id);
}

/** The ids of the real providers to which no enabled model has a route: they are configured for nothing. */
export function unusedProviders(
  { providers }: ProvidersOptions,
  rows: readonly ModelRow[],
): string[] {
  const used = new Set(
    rows
      .filter(({ enabled }) => enabled)
      .flatMap(({ routes }) => routes.map(({ provider }) => provider)),
  );
  return providers
    .filter(({ id, isSandbox }) => isSandbox !== true && !used.has(id))
    .map(({ id }) => id);
}

function keyOf(provider: string, variable: string): string | undefined {
  if (variable === '') return undefined;
  const key = readProviderKey(variable);
  if (key === undefined) {
    throw new ConfigError([`${variable}: is required by provider ${provider} of CATALOG_FILE`]);
  }
  const reading = headerKey(key);
  if ('value' in reading) return reading.value;
  throw new ConfigError([`${variable}: ${reading.problem}`]);
}

const isSpoken = ({ operation }: ModelRow): boolean => OPERATIONS[operation].hasVoice;

/**
 * Has the adapter of each route check the row: whether its protocol supports the operation, and whether it knows the
 * name, and whether it can speak its voices. Otherwise a model would be sold that no request can reach. A provider that is not configured is no fault: its
 * models are not listed. Throws ConfigError that names row and field of each fault.
 * @param builtIn the protocols of the built-in providers, by id
 */
function checkRoutes(catalog: LoadedCatalog, builtIn: ReadonlyMap<string, Protocol>): void {
  const own = catalog.providers.map(({ id, protocol }): [string, Protocol] => [id, protocol]);
  const protocols = new Map([...builtIn, ...own]);
  const problems = catalog.rows.flatMap((row) =>
    row.routes.flatMap((route, index) => {
      const protocol = protocols.get(route.provider);
      const fault = protocol && routeFault(protocol, row.operation, route);
      if (protocol && !fault && !row.voices && isSpoken(row) && hasOwnVoices(protocol)) {
        return [`CATALOG_FILE: model ${row.id}: voices is required: ${protocol} has its own`];
      }
      if (!fault) return [];
      return [`CATALOG_FILE: model ${row.id}: routes.${index}.${fault.field} ${fault.says}`];
    }),
  );
  if (problems.length > 0) throw new ConfigError(problems);
}
