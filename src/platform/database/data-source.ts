import { DataSource, getMetadataArgsStorage, type DataSourceOptions } from 'typeorm';
import { MIGRATIONS } from './migration-list.js';
import { CHOSEN_DRIVER } from './chosen-pool.js';
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

/** Receives the name of a statement, and how long it took with its wait for a connection. */
export type OnStatement = (name: string, seconds: number) => void;

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
  /** Called after each prepared statement, also one that failed. */
  readonly onStatement?: OnStatement;
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
    driver: CHOSEN_DRIVER,
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
      onStatement: connection.onStatement,
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

/** What a data source does with statements. */
interface StatementTerms {
  /** False: the sessions do not know statements by name. */
  readonly keepsNames?: boolean;
  readonly onStatement?: OnStatement;
}

/** What this data source does with statements, as {@link createDataSource} made it. */
export function statementTermsOf(dataSource: {
  readonly options?: { readonly extra?: unknown };
}): StatementTerms {
  return (dataSource.options?.extra as StatementTerms | undefined) ?? {};
}

/** The connections of a data source: how many are in use, and how many statements wait for one. */
export function poolFiguresOf(dataSource: DataSource): { inUse: number; waiting: number } {
  const { totalCount, idleCount, waitingCount } = (
    dataSource.driver as unknown as {
      readonly master: Readonly<Record<'totalCount' | 'idleCount' | 'waitingCount', number>>;
    }
  ).master;
  return { inUse: totalCount - idleCount, waiting: waitingCount };
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
