import { resolve } from 'node:path';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { databaseUrlsOf } from '../common/database-urls.js';
import { redactText } from '../common/secrets/redact-text.js';
import { reasonOf } from '../platform/database/database-errors.js';
import { DatabaseAwayError } from '../platform/database/wait-for-database.js';

type Settings = Pick<GatewayConfig, 'databaseUrl' | 'migrationDatabaseUrl' | 'dataDir'>;

/** A command that runs in its own process found no database. The message is for the operator. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/**
 * The work's result. Throws {@link DatabaseUnavailableError} where the database stayed away: which settings name it, its host, port and
 * name (no password), and what to do. Throws any other error as it is.
 */
export async function withDatabaseNamed<T>(settings: Settings, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DatabaseAwayError)) throw error;
    const { message, cause } = error;
    const told = `${message} (${reasonOf(cause)}): start the database of ${placesIn(settings)}, or correct the setting, then run the command again.`;
    throw new DatabaseUnavailableError(redactText(told), { cause: error });
  }
}

function placesIn({ databaseUrl, migrationDatabaseUrl, dataDir }: Settings): string {
  if (databaseUrl === undefined) return `DATA_DIR (${resolve(dataDir)})`;
  const own = `DATABASE_URL (${databasePlace(databaseUrl)})`;
  if (migrationDatabaseUrl === undefined) return own;
  return `${own} or MIGRATION_DATABASE_URL (${databasePlace(migrationDatabaseUrl)})`;
}

/**
 * `host:port/name` of each server of a PostgreSQL URL; the host may be the folder of a Unix socket. Throws an Error for another text.
 */
export function databasePlace(url: string): string {
  return databaseUrlsOf(url).urls.map(onePlaceOf).join(', ');
}

function onePlaceOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  return `${host}:${searchParams.get('port') ?? (port || '5432')}${pathname}`;
}
