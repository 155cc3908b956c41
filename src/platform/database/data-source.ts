import { DataSource, getMetadataArgsStorage, type DataSourceOptions } from 'typeorm';
import { MIGRATIONS } from './migration-list.js';
import type { Pooler } from './pooler.js';
import { ChosenClient, ServerChoice } from './server-choice.js';
import { SESSION_SETTINGS } from './session-settings.js';
import { Socket } from 'node:net';

/** Connections of one process. */
const POOL_SIZE = 20;
/** Connections of one process in addition to its pool: that of its lease. */
const LONE_CONNECTIONS = 1;
/** Connections for migrations, audits and operator commands, in addition to the pools. */
const SPARE_CONNECTIONS = 20;
const CONNECT_TIMEOUT_MS = 5_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
/** Idle connections are closed before their silence counts as a fault. */
const IDLE_CONNECTION_MS = 10_000;
const SILENCE_LIMIT_MS = 15_000;
/** TypeORM's own table of applied migrations. */
export const MIGRATION_TABLE = 'migration';

/** Connections that the server has to accept when this many processes share it. */
export function connectionsFor(processes: number): number {
  return processes * (POOL_SIZE + LONE_CONNECTIONS) + SPARE_CONNECTIONS;
}

/** Where the database is and how many connections to keep. */
export interface DatabaseConnection {
  /**
   * `postgresql://…`, over TCP or a Unix socket (`?host=/directory`), with TLS parameters if any. Of several hosts the
   * first that takes writes is used.
   */
  readonly url: string;
  /** Absent: there is no pooler. */
  readonly pooler?: Pooler;
  readonly poolSize?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** Called with errors of idle connections; such errors never end the process. */
  readonly onPoolError?: (error: Error) => void;
}

/**
 * A data source, not yet connected, with every entity class that is loaded. It never changes the schema by itself;
 * `runMigrations` does.
 */
export function createDataSource(connection: DatabaseConnection): DataSource {
  const { url, pooler = 'none' } = connection;
  const choice = new ServerChoice(url);
  return new DataSource({
    type: 'postgres',
    entities: registeredEntities(),
    migrations: [...MIGRATIONS],
    migrationsTableName: MIGRATION_TABLE,
    migrationsRun: false,
    synchronize: false,
    installExtensions: false,
    logging: false,
    poolSize: connection.poolSize ?? POOL_SIZE,
    applicationName: connection.applicationName ?? 'shim-gateway',
    connectTimeoutMS: CONNECT_TIMEOUT_MS,
    poolErrorHandler: connection.onPoolError ?? (() => undefined),
    extra: {
      // The driver's own parser of URLs supports sockets and TLS parameters; TypeORM's does not.
      choice,
      Client: ChosenClient,
      keepsNames: pooler !== 'unnamed',
      ...(pooler === 'none' && SESSION_SETTINGS.startUp),
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      stream: () => idleTimeoutSocket(SILENCE_LIMIT_MS),
    },
  });
}

function registeredEntities(): (string | (new () => unknown))[] {
  return getMetadataArgsStorage()
    .tables.map((table) => table.target)
    .filter((target) => typeof target === 'string' || typeof target === 'function') as (
    string | (new () => unknown)
  )[];
}

/** Whether the sessions of a data source know statements by name. */
export function keepsNames(dataSource: {
  readonly options?: { readonly extra?: unknown };
}): boolean {
  const extra = dataSource.options?.extra as { readonly keepsNames?: boolean } | undefined;
  return extra?.keepsNames !== false;
}

/**
 * A socket, not yet connected, that fails with `ETIMEDOUT` when no byte passes for `limitMs`. It is for a server that
 * vanished without closing the connection, because the server's own time limits do not work then.
 */
export function idleTimeoutSocket(limitMs: number): Socket {
  // The client that connects it learns of its errors. One that gave up listens no longer.
  const socket = new Socket().on('error', () => undefined);
  socket.setTimeout(limitMs, () => {
    const silence = new Error(`The database was silent for ${limitMs} ms`);
    socket.destroy(Object.assign(silence, { code: 'ETIMEDOUT' }));
  });
  return socket;
}

type PostgresDataSourceOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

/**
 * The same database over one connection without the time limits of normal work. For migrations and audits, whose transactions
 * begin with {@link SESSION_SETTINGS.patience}, because a pooler passes no settings on.
 */
export function maintenanceConnectionOf(dataSource: DataSource): DataSource {
  const options = dataSource.options as PostgresDataSourceOptions;
  const { options: asked, ...common } = options.extra as { readonly options?: string };
  const extra = {
    ...common,
    ...(asked !== undefined && SESSION_SETTINGS.patientStartUp),
    stream: undefined,
  };
  return new DataSource({ ...options, poolSize: 1, extra });
}
