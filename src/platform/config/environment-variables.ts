import { PROVIDER_SETTINGS } from './provider-settings.js';
import { ConfigError } from './load-config.js';
import { ownerOfFile, readSecret } from './secret-files.js';
import { SETTINGS } from './settings.js';

/** Secrets that the clients of the storage and of the database read by themselves. */
const READ_BY_CLIENTS: readonly string[] = [
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'PGPASSWORD',
];
const KEYS: ReadonlySet<string> = new Set(
  Object.entries(PROVIDER_SETTINGS).flatMap(([name, row]) => (row.secret ? [name] : [])),
);

/** Whether the gateway itself reads the variable for something else than the key of a built-in provider. */
export function isGatewayVariable(name: string): boolean {
  if (KEYS.has(name)) return false;
  // Its value is the path of a file, and no key.
  if (Object.hasOwn(SETTINGS, ownerOfFile(name) ?? '')) return true;
  return Object.hasOwn(SETTINGS, name) || READ_BY_CLIENTS.includes(name);
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
