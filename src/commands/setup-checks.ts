import { viewCatalogCheck } from '../admin/views/catalog-model.view.js';
import { checkOverlay } from '../catalog/catalog-check.js';
import { loadCatalog, pricedModels } from '../catalog/catalog-file.js';
import { redactText } from '../common/secrets/redact-text.js';
import { nearestName } from '../common/nearest-name.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { readVariable, startEnvironment } from '../platform/config/environment-variables.js';
import { ConfigError, loadConfig } from '../platform/config/load-config.js';
import { fileVariableOf, ownerOfFile } from '../platform/config/secret-files.js';
import type { Setting } from '../platform/config/setting.js';
import { SETTINGS } from '../platform/config/settings.js';
import { checkedVendor } from '../providers/providers.js';
import { checkRoutes, providersOptions } from '../providers/provider-configs.js';

/** The sandbox of a check: nothing is sent to it. */
const NO_SANDBOX = undefined;
/** Shorter names, such as HOME, are near to too much. */
const MIN_LETTERS_OF_A_SLIP = 8;

/** What an overlay on the catalog would change, or all that is wrong with it. Nothing uses the file. */
export function checkCatalog(file: string): object {
  const directory = readVariable('VENDORS_DIR');
  return viewCatalogCheck(checkOverlay(() => routed(file, directory)));
}

/** The catalog of the file, whose routes fit their providers. Throws {@link ConfigError}. */
const routed = (file: string, vendorsDir: string | undefined) =>
  checkRoutes({ vendorsDir }, loadCatalog(file, vendorsDir));

/**
 * Whether the file of a vendor would be taken, or all that is wrong with it, and which of the models that it offers have no price
 * in `CATALOG_FILE`. Nothing uses the file.
 */
export function checkVendor(file: string): object {
  const { faults, id: provider, models } = checkedVendor(file);
  const { priced, unread } = pricesOf(readVariable('CATALOG_FILE'), provider);
  return {
    object: 'vendor_check',
    ok: faults.length === 0,
    faults,
    provider,
    models,
    without_price: models.filter((model) => !priced.has(model)),
    ...(unread && { warnings: unread }),
  };
}

/** The file of a vendor may be good where the catalog cannot be read. */
function pricesOf(catalog: string | undefined, provider: string | null) {
  try {
    return { priced: pricedModels(catalog, provider) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { priced: new Set<unknown>(), unread: error.problems };
  }
}

/** What a start with an environment would find. */
export interface ConfigCheck {
  readonly object: 'config_check';
  /** Whether a start would take it. */
  readonly ok: boolean;
  /** One for each bad variable, and those of the overlay file. */
  readonly faults: readonly string[];
  /** Variables that may be misspelt settings. */
  readonly warnings: readonly string[];
  /** What is set: a secret only by that. */
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Checks the environment of this process as a start does: every setting, the files of secrets, the overlay file with its routes, and the
 * keys of providers. Opens no database and no connection.
 */
export function checkConfig(): ConfigCheck {
  const environment = startEnvironment();
  const faults = faultsOf(environment);
  const settings = Object.fromEntries(
    Object.entries<Setting>(SETTINGS).flatMap(([name, { secret }]) =>
      shownOf(environment, name, secret),
    ),
  );
  const warnings = slipsOf(environment);
  return { object: 'config_check', ok: faults.length === 0, faults, warnings, settings };
}

function faultsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    const config: GatewayConfig = loadConfig(environment);
    providersOptions(config, loadCatalog(config.catalogFile, config.vendorsDir), NO_SANDBOX);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { unreadCatalogFile: file } = error;
    // A start with invalid settings ends before the file is read.
    return [
      ...error.problems,
      ...(file === undefined
        ? []
        : checkOverlay(() => loadCatalog(file, readVariable('VENDORS_DIR'))).faults),
    ];
  }
}

function shownOf(
  environment: NodeJS.ProcessEnv,
  name: string,
  isSecret = false,
): [string, string][] {
  const value = environment[name];
  const file = environment[fileVariableOf(name)];
  if (isSecret && file) return [[name, `set by ${fileVariableOf(name)}`]];
  if (!value) return [];
  return [[name, isSecret ? 'set' : redactText(value)]];
}

function slipsOf(environment: NodeJS.ProcessEnv): string[] {
  const names = Object.keys(SETTINGS);
  return Object.keys(environment).flatMap((name) => {
    const isKnown = names.includes(name) || names.includes(ownerOfFile(name) ?? '');
    if (isKnown || name.length < MIN_LETTERS_OF_A_SLIP) return [];
    const near = nearestName(name, names);
    return near === undefined ? [] : [`${name} is no setting; ${near} is one`];
  });
}
