import { PROVIDER_SETTINGS } from './provider-settings.js';
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
  return Object.hasOwn(SETTINGS, name) || READ_BY_CLIENTS.includes(name);
}

/** A variable that only the overlay file names, such as the key of a provider. Empty counts as unset. */
export function readVariable(name: string): string | undefined {
  const value = process.env[name];
  return value === undefined || value === '' ? undefined : value;
}
