import { ConfigError } from '../config/load-config.js';
import { redactText } from '../common/secrets/redact-text.js';

/** Why the gateway could not start, as a sentence. Invalid settings have their own text. */
export function startFault(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (!(error instanceof Error)) return 'The gateway could not start.';
  const cause = error.cause instanceof Error ? ` (${error.cause.message})` : '';
  const why = addressFault(error) ?? `${error.message}${cause}`;
  return redactText(`The gateway could not start: ${why}`);
}

function addressFault(error: NodeJS.ErrnoException & { address?: string; port?: number }) {
  if (error.code === 'EADDRNOTAVAIL' && error.syscall === 'listen') {
    return `HOST: ${error.address} is no address of this machine.`;
  }
  if (error.code !== 'EADDRINUSE' || error.port === undefined) return undefined;
  return `port ${error.port} of ${error.address ?? 'every address'} is in use by another program. Stop it, or set another PORT.`;
}
