import { isDeepStrictEqual } from 'node:util';
import { readProviderKey } from '../platform/config/environment-variables.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import type { VendorFile } from './async-json/vendor-file.js';
import { loadVendors } from './async-json/vendor-files.js';
import type { Route } from './ports/attempt.js';
import { accessTo, BUILT_IN_PROVIDERS } from './providers.js';

/** What of the catalog decides which providers are there. */
interface CatalogUse {
  readonly providers: readonly { readonly id: string }[];
  readonly rows: readonly { readonly routes: readonly Pick<Route, 'provider'>[] }[];
}

/**
 * The vendors of files whose keys are set, with their keys (undefined: it takes none). A shipped one is not among them where
 * `CATALOG_FILE` has a provider of its id. Throws ConfigError.
 */
export function vendorsOf(config: GatewayConfig, catalog: Pick<CatalogUse, 'providers'>) {
  return allVendors(config, catalog).filter(
    ({ vendor, apiKey }) => vendor.key_env === '' || apiKey !== undefined,
  );
}

/** The vendors of files whose keys are unset: they are off, or the sandbox plays them. Throws ConfigError. */
export function vendorsWithoutKey(
  config: GatewayConfig,
  catalog: Pick<CatalogUse, 'providers'>,
): readonly VendorFile[] {
  const taken = new Set([...BUILT_IN_PROVIDERS, ...catalog.providers].map(({ id }) => id));
  return allVendors(config, catalog)
    .filter(({ vendor, apiKey }) => vendor.key_env !== '' && apiKey === undefined)
    .flatMap(({ vendor }) => (taken.has(vendor.id) ? [] : [vendor]));
}

function allVendors(config: GatewayConfig, catalog: Pick<CatalogUse, 'providers'>) {
  const shipped = loadVendors(undefined);
  const named = new Set(catalog.providers.map(({ id }) => id));
  const isReplaced = (vendor: VendorFile): boolean =>
    named.has(vendor.id) && isDeepStrictEqual(vendor, shipped.get(vendor.id));
  return [...loadVendors(config.vendorsDir).values()]
    .filter((vendor) => !isReplaced(vendor))
    .map((vendor) => ({
      vendor,
      apiKey: vendor.key_env === '' ? undefined : readProviderKey(vendor.key_env),
    }));
}

/**
 * Whether the sandbox replaces any provider, and whether it serves every one (docs/reference/configuration.md). Providers of
 * `CATALOG_FILE` are always real.
 */
export function sandboxScope(config: GatewayConfig, catalog: CatalogUse): 'none' | 'some' | 'all' {
  const keyed = BUILT_IN_PROVIDERS.filter((provider) => accessTo(provider, config)).length;
  if (config.sandbox === 'off') return 'none';
  // The key of a shipped vendor may be there for something else.
  const sold = new Set(
    catalog.rows.flatMap(({ routes }) => routes.map(({ provider }) => provider)),
  );
  const vendors = vendorsOf(config, catalog).filter(({ vendor }) => sold.has(vendor.id));
  const others = catalog.providers.length + vendors.length;
  if (keyed === 0 && others === 0) return 'all';
  const isAnyUnkeyed =
    keyed < BUILT_IN_PROVIDERS.length || vendorsWithoutKey(config, catalog).length > 0;
  return config.sandbox === 'on' && isAnyUnkeyed ? 'some' : 'none';
}

/** The ids of the providers that the sandbox replaces. */
export function sandboxedProviders(config: GatewayConfig, catalog: CatalogUse): string[] {
  if (sandboxScope(config, catalog) === 'none') return [];
  const replaced = BUILT_IN_PROVIDERS.filter((provider) => !accessTo(provider, config));
  return [...replaced, ...vendorsWithoutKey(config, catalog)].map(({ id }) => id);
}
