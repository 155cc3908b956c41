import 'reflect-metadata';
import { loadCatalog } from '../catalog/catalog-file.js';
import { readVariable } from '../platform/config/environment-variables.js';
import { ConfigError } from '../platform/config/load-config.js';
import { redactText } from '../common/secrets/redact-text.js';

/**
 * Why the gateway could not start, as a sentence. Invalid settings have their own text, which includes the faults of
 * the catalog file: a start with invalid settings ends before the file is read.
 */
export function startupError(error: unknown): string {
  if (error instanceof ConfigError) {
    return new ConfigError([...error.problems, ...catalogFaults(error.unreadCatalogFile)]).message;
  }
  if (!(error instanceof Error)) return 'The gateway could not start.';
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const why = addressFault(error) ?? `${error.message}${cause}`;
  return redactText(`The gateway could not start: ${why}`);
}

function catalogFaults(path: string | undefined): readonly string[] {
  try {
    loadCatalog(path, readVariable('VENDORS_DIR'));
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [];
  }
}

interface AddressError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

function addressFault(error: AddressError) {
  // Errors of the database and others have their own messages.
  if (error.syscall === 'getaddrinfo' && error.hostname !== undefined) {
    return `HOST: no address is found for ${error.hostname}.`;
  }
  if (error.code === 'EADDRNOTAVAIL' && error.syscall === 'listen') {
    return `HOST: ${error.address} is no address of this machine.`;
  }
  if (error.code !== 'EADDRINUSE' || error.port === undefined) return undefined;
  return `port ${error.port} of ${error.address ?? 'every address'} is in use by another program. Stop it, or set another PORT.`;
}
