import type { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { connectionsFor } from './data-source.js';
import { SESSION_SETTINGS } from './session-settings.js';

/** Server settings without which confirmed commits may be lost. The embedded server has them on. */
const UNSAFE = `
  SELECT name FROM pg_settings
   WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name`;
/** Standbys that follow without the server waiting for any of them. Who follows is visible to every role, how far only to some. */
const UNAWAITED_STANDBYS = `
  SELECT count(*)::int AS count FROM pg_stat_get_wal_senders()
   WHERE current_setting('synchronous_standby_names') = ''`;
const MAX_CONNECTIONS = `SELECT setting::int AS value FROM pg_settings WHERE name = 'max_connections'`;

/**
 * Makes the session settings the defaults of this role in this database, because a pooler passes none on. Sessions that
 * the pooler opened before keep theirs until it closes them.
 */
export async function setForRole(dataSource: DataSource, logger: Logger): Promise<void> {
  try {
    const missing = await dataSource.query<{ statement: string }[]>(SESSION_SETTINGS.ofRole);
    for (const { statement } of missing) await dataSource.query(statement);
  } catch (error) {
    logger.warn(`The role of DATABASE_URL cannot set its own defaults: ${String(error)}`);
  }
  const [row] = await dataSource.query<{ kept: boolean }[]>(SESSION_SETTINGS.check);
  if (row?.kept !== true) {
    logger.warn(
      'Sessions of the pooler lack the time limits and jit=off of their role until the pooler opens them anew (RECONNECT)',
    );
  }
}

/** Logs a warning for a server that may lose money or has too few connections for one process. */
export async function warnOfServer(dataSource: DataSource, logger: Logger): Promise<void> {
  const unsafe = await dataSource.query<{ name: string }[]>(UNSAFE);
  if (unsafe.length > 0) {
    const names = unsafe.map(({ name }) => name).join(', ');
    logger.warn(
      `The database server runs with ${names} off: a crash of it may lose confirmed calls`,
    );
  }
  const [standbys] = await dataSource.query<{ count: number }[]>(UNAWAITED_STANDBYS);
  if (standbys !== undefined && standbys.count > 0) {
    logger.warn(
      `${standbys.count} standbys follow the database server, and synchronous_standby_names is empty: a fail-over may lose the last confirmed calls`,
    );
  }
  const [limit] = await dataSource.query<{ value: number }[]>(MAX_CONNECTIONS);
  const needed = connectionsFor(1);
  if (limit !== undefined && limit.value < needed) {
    logger.warn(
      `The database server takes ${limit.value} connections; one process may need ${needed}`,
    );
  }
}
