import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { trimTrailingSlashes } from '../common/parse-url.js';
import type { LoadedCatalog } from '../catalog/catalog-file.js';
import type { ModelRow } from '../catalog/model-row.js';
import { OPERATIONS } from '../catalog/operations.js';
import { type GatewayConfig, workerCount } from '../platform/config/gateway-config.js';
import { ConfigError } from '../platform/config/load-config.js';
import { readProviderKey } from '../platform/config/environment-variables.js';
import { headerKey } from '../platform/config/setting.js';
import type { CostedRoute } from '../catalog/route-cost.js';
import { loadVendors } from './async-json/vendor-files.js';
import { operationOf, type VendorFile, type VendorKeyLimits } from './async-json/vendor-file.js';
import { vendorRowFaults } from './async-json/vendor-rows.js';
import { geminiVideoFaults } from './gemini/gemini-video.adapter.js';
import type { UpstreamTerms } from './ports/attempt.js';
import type { ProviderConfig, ProvidersOptions } from './providers.options.js';
import type { SandboxAccess } from '../platform/config/worker-context.js';
import type { KeyLimits } from './routing/upstream-key.js';
import {
  accessTo,
  BUILT_IN_PROVIDERS,
  fixedFieldsOf,
  hasOwnVoices,
  unitOfMusic,
  type Protocol,
  type RouteFault,
  routeFault,
} from './providers.js';
import { vendorsOf, vendorsWithoutKey } from './sandboxed.js';

/** Characters of the version of a file. */
const VERSION_LENGTH = 16;
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
  checkRoutes(config, catalog);
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
  const vendors = [...vendorConfigs(config, catalog), ...twinConfigs(config, catalog, sandbox)];
  const limitsOf = ({ id, vendor }: ProviderConfig) =>
    catalog.keyLimits?.get(id) ?? vendor?.key_limits;
  return {
    providers: [...builtIn, ...extra, ...vendors].map((provider) => ({
      ...provider,
      keyLimits: limitsInProcess(limitsOf(provider), workerCount(config)),
    })),
    ...(config.upstreamTimeoutMs !== undefined && { upstreamTimeoutMs: config.upstreamTimeoutMs }),
  };
}

/** The share of one process: those of one gateway get calls alike. It is at least one call. */
function limitsInProcess(
  { requests_per_minute: perMinute, concurrent }: VendorKeyLimits = {},
  processes: number,
): KeyLimits {
  const share = (limit: number | undefined) => limit && Math.max(1, Math.floor(limit / processes));
  return { requestsPerMinute: share(perMinute), concurrent: share(concurrent) };
}

/** The ids of the providers that the sandbox replaces. */
export function sandboxedOf({ providers }: ProvidersOptions): string[] {
  return providers.filter(({ isSandbox }) => isSandbox === true).map(({ id }) => id);
}

/** The files of the vendors that the sandbox plays, with their addresses there. */
export function playedVendors({ providers }: ProvidersOptions): VendorFile[] {
  return providers.flatMap(({ isSandbox, vendor }) => (isSandbox && vendor ? [vendor] : []));
}

/**
 * The ids of the real providers to which no enabled model has a route: they are configured for nothing. A shipped vendor is not
 * among them, whose key may be there for something else; nor is one of a file whose key is also that of another provider.
 */
export function unusedProviders(
  { providers }: ProvidersOptions,
  rows: readonly ModelRow[],
): string[] {
  const used = new Set(
    rows
      .filter(({ enabled }) => enabled)
      .flatMap(({ routes }) => routes.map(({ provider }) => provider)),
  );
  const isShared = ({ vendor, keyVariable }: ProviderConfig): boolean =>
    vendor !== undefined &&
    providers.some((other) => other.vendor !== vendor && other.keyVariable === keyVariable);
  const shipped = loadVendors(undefined);
  const isShipped = ({ id, vendor }: ProviderConfig): boolean =>
    vendor !== undefined && isDeepStrictEqual(vendor, shipped.get(id));
  return providers
    .filter((provider) => provider.isSandbox !== true && !used.has(provider.id))
    .filter((provider) => !isShipped(provider) && !isShared(provider))
    .map(({ id }) => id);
}

/** The vendors that files describe, where their keys are set. */
function vendorConfigs(config: GatewayConfig, catalog: LoadedCatalog): ProviderConfig[] {
  const taken = [...BUILT_IN_PROTOCOLS.keys(), ...catalog.providers.map(({ id }) => id)];
  return vendorsOf(config, catalog).map(({ vendor, apiKey }): ProviderConfig => {
    const { id, protocol, base_url: baseUrl, key_env: variable } = vendor;
    if (taken.includes(id)) {
      throw new ConfigError([`VENDORS_DIR: ${id}.json: id: another provider has this id`]);
    }
    const key = keyProblem(variable, apiKey, vendor.auth.in === 'jwt');
    if (key !== undefined) throw new ConfigError([`${variable}: ${key}`]);
    return { id, protocol, baseUrl, apiKey, keyVariable: variable || undefined, vendor };
  });
}

/** The vendors without keys, which the sandbox plays: it gets the key of the sandbox, and a pair has it as both parts. */
function twinConfigs(
  config: GatewayConfig,
  catalog: LoadedCatalog,
  sandbox: SandboxAccess | undefined,
): ProviderConfig[] {
  if (!sandbox) return [];
  return vendorsWithoutKey(config, catalog).map(({ origins: _real, ...file }): ProviderConfig => {
    // The address stays with the file's changes: open tasks remember it.
    const version = createHash('sha256').update(JSON.stringify(file)).digest('hex');
    const headers = { ...file.headers, [sandbox.twinHeader]: version.slice(0, VERSION_LENGTH) };
    const { id, protocol, key_env: keyVariable } = file;
    const baseUrl = `${sandbox.url}/vendors/${id}`;
    const { apiKey: key } = sandbox;
    const apiKey = file.auth.in === 'jwt' ? `${key}:${key}` : key;
    const vendor = { ...file, base_url: baseUrl, headers };
    return { id, protocol, baseUrl, apiKey, keyVariable, isSandbox: true, vendor };
  });
}

function keyProblem(variable: string, key: string | undefined, isPair: boolean) {
  if (key === undefined) return undefined;
  const reading = headerKey(key);
  if ('problem' in reading) return reading.problem;
  return isPair && !key.split(',').every((one) => /^[^:]+:.+$/.test(one))
    ? `must be access:secret in ${variable}`
    : undefined;
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
 * Has the adapter of each route check the row: whether its protocol supports the operation, whether it knows the name,
 * whether it can speak its voices, and whether the file of a vendor takes what the row sells. Otherwise a model would be sold
 * that no request can reach. A provider that is not configured is no fault: its models are not listed; a vendor of a file is
 * one that is off. Throws ConfigError that names row and field of each fault.
 */
export function checkRoutes(
  { vendorsDir }: Pick<GatewayConfig, 'vendorsDir'>,
  catalog: LoadedCatalog,
): LoadedCatalog {
  const vendors = loadVendors(vendorsDir);
  const protocols = new Map([
    ...BUILT_IN_PROTOCOLS,
    ...[...vendors.values()].map(({ id, protocol }): [string, Protocol] => [id, protocol]),
    ...catalog.providers.map(({ id, protocol }): [string, Protocol] => [id, protocol]),
  ]);
  const problems = catalog.rows.flatMap((row) =>
    row.routes.flatMap((route, index) => {
      const protocol = protocols.get(route.provider);
      if (!protocol) return [];
      const faults = routeFaults(row, route, protocol, vendors.get(route.provider));
      return faults.map((fault) => `CATALOG_FILE: model ${row.id}: ${inRoute(fault, index)}`);
    }),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return catalog;
}

/** What is wrong with one route; a fault of the route itself is an object. */
function routeFaults(
  row: ModelRow,
  route: CostedRoute,
  protocol: Protocol,
  vendor: VendorFile | undefined,
): readonly (RouteFault | string)[] {
  const fault = routeFault(protocol, row.operation, route);
  if (fault) return [fault];
  if (!row.voices && isSpoken(row) && hasOwnVoices(protocol)) {
    return [`voices is required: ${protocol} has its own`];
  }
  const fixed = changedFields(row.terms).find((name) => fixedFieldsOf(protocol).includes(name));
  if (fixed !== undefined)
    return [`${fixed} must not be changed: answers of ${protocol} depend on it`];
  if (vendor) return faultsAtVendor(row, route, vendor);
  if (row.operation === 'composition' && row.price.unit !== unitOfMusic(protocol))
    return [`price.unit must be ${unitOfMusic(protocol)} at a provider that speaks ${protocol}`];
  return row.operation === 'video' && protocol === 'gemini' ? geminiVideoFaults(row) : [];
}

/** What is wrong with a route to a vendor of a file, which is for one operation. */
function faultsAtVendor(
  row: ModelRow,
  { upstreamModel }: CostedRoute,
  vendor: VendorFile,
): readonly (RouteFault | string)[] {
  const own = operationOf(vendor);
  if (row.operation === own) return vendorRowFaults(vendor, { ...row, upstreamModel });
  const says = `${vendor.id} has a file for ${own}, and no operation ${row.operation}`;
  return [{ field: 'provider', says }];
}

/** The fields of requests that the terms of a row drop, rename or set. */
const changedFields = ({ drop = [], rename = {}, constants = {} }: UpstreamTerms = {}) => [
  ...drop,
  ...Object.entries(rename).flat(),
  ...Object.keys(constants),
];

const inRoute = (fault: RouteFault | string, index: number): string =>
  typeof fault === 'string' ? fault : `routes.${index}.${fault.field} ${fault.says}`;
