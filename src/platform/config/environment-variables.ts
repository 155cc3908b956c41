import { PROVIDER_SETTINGS } from './provider-settings.js';
import { ConfigError } from './load-config.js';
import { fileVariableOf, ownerOfFile, readSecret } from './secret-files.js';
import { SETTINGS } from './settings.js';

/** What the clients of the storage and of the database read by themselves, such as AWS_WEB_IDENTITY_TOKEN_FILE and PGPASSWORD. */
const OF_CLIENTS = /^(?:AWS_|PG[A-Z]+$)/;
const KEYS: ReadonlySet<string> = new Set(
  Object.entries(PROVIDER_SETTINGS).flatMap(([name, row]) => (row.secret ? [name] : [])),
);

/** Whether the gateway itself reads the variable for something else than the key of a built-in provider. */
export function isGatewayVariable(name: string): boolean {
  if (KEYS.has(name)) return false;
  // Their value is the path of a file, or that file is no key of a provider.
  if (Object.hasOwn(SETTINGS, ownerOfFile(name) ?? '')) return true;
  if (Object.hasOwn(SETTINGS, fileVariableOf(name)) || OF_CLIENTS.test(name)) return true;
  return Object.hasOwn(SETTINGS, name);
}

/** The variables that this process was started with. */
export const startEnvironment = (): NodeJS.ProcessEnv => process.env;

/** A variable that is no setting of the gateway. Empty counts as unset. */
export function readVariable(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}

/**
 * The key of a provider, whose variable the overlay file may name, or the text of the file of `NAME_FILE`. Undefined
 * where neither is set. Throws {@link ConfigError} where that file cannot be read.
 */
export function readProviderKey(name: string): string | undefined {
  const reading = readSecret(process.env, name);
  if ('value' in reading) return reading.value;
  throw new ConfigError([reading.problem]);
}
