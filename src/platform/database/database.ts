import { Inject, Injectable, Logger, type OnApplicationShutdown, Optional } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { Metrics } from '../observability/metrics.js';
import { createDataSource } from './data-source.js';
import {
  EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  type RunningPostgres,
} from './embedded/embedded-postgres.js';
import { findPooler, type Pooler, type PoolerSetting } from './pooler.js';
import { roleIn } from './database-roles.js';
import { setForRole, warnOfServer } from './server-settings.js';
import { pendingChanges, runMigrations } from './run-migrations.js';
import { waitForDatabase } from './wait-for-database.js';

/** Which database to use. */
export interface DatabaseOptions {
  /** Undefined: the embedded PostgreSQL in `<dataDir>/postgres`. */
  readonly databaseUrl: string | undefined;
  /** The connection of the owner, which migrates. When undefined, the gateway's own connection migrates. */
  readonly migrationDatabaseUrl?: string | undefined;
  /** The connection of a role that only reads; it gets its rights where the owner migrates. */
  readonly readerDatabaseUrl?: string | undefined;
  readonly dataDir: string;
  /** Whether there is a pooler in front of `databaseUrl`; absent: this is detected. */
  readonly pooler?: PoolerSetting;
  readonly poolSize?: number;
  /**
   * What `open` may change: everything (the default), only a database without a schema, or nothing. Where it may not, it throws
   * {@link SchemaPendingError}.
   */
  readonly migrates?: 'always' | 'when-empty' | 'never';
  /** Operator commands use the embedded server of a running gateway; a gateway starts its own. */
  readonly shareEmbedded?: boolean;
}

/** The database lacks a part of the schema, and this process may not change it. */
export class SchemaPendingError extends Error {
  override readonly name = 'SchemaPendingError';

  constructor(names: readonly string[]) {
    super(
      `The database has not been migrated to this version of the gateway; it lacks ${names.join(', ')}. Run the command \`migrate\` of this version, then start again. Nothing was changed.`,
    );
  }
}

/** Injection token of the {@link DatabaseOptions}. */
export const DATABASE_OPTIONS = Symbol('DATABASE_OPTIONS');

/**
 * Opens and closes the database of this process: server (if embedded), connections, schema. Nothing may use the
 * database in `onApplicationShutdown`: there the connections are closed, and then the server stops.
 */
@Injectable()
export class Database implements OnApplicationShutdown {
  private readonly logger = new Logger('Database');
  private server: RunningPostgres | undefined;
  private dataSource: DataSource | undefined;
  private isClosing = false;

  constructor(
    @Inject(DATABASE_OPTIONS) private readonly options: DatabaseOptions,
    @Optional() private readonly metrics?: Metrics,
  ) {}

  /**
   * Starts the embedded server if there is no URL, connects and migrates. If a step fails, the steps before are undone.
   */
  async open(): Promise<DataSource> {
    return this.orClosed(async () => {
      const { dataSource, pooler } = await this.reach();
      const applied = await waitForDatabase(() => this.changeIfAllowed(dataSource), this.onWait);
      await waitForDatabase(() => this.settle(dataSource, pooler), this.onWait);
      if (applied.length > 0) this.logger.log(`Changed the schema: ${applied.join(', ')}`);
      return dataSource;
    });
  }

  /** Connects and tells what `open` would change; also tries it and takes it back (`try`), or changes it (`apply`). */
  async changeSchema(how: 'look' | 'try' | 'apply'): Promise<readonly string[]> {
    return this.orClosed(async () => {
      const { dataSource } = await this.reach();
      const { names } = await pendingChanges(dataSource);
      if (how !== 'look') await this.migrate(dataSource, how === 'try');
      return names;
    });
  }

  private readonly onWait = (error: unknown): void => {
    this.logger.warn(`The database does not respond yet; trying again: ${String(error)}`);
  };

  private async orClosed<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** Starts the server if it is the embedded one, and connects. */
  private async reach(): Promise<{ dataSource: DataSource; pooler: Pooler }> {
    const url = this.options.databaseUrl ?? (await this.startServer());
    const pooler = await waitForDatabase(() => this.poolerOf(url), this.onWait);
    const dataSource = await waitForDatabase(() => this.connect(url, pooler), this.onWait);
    this.dataSource = dataSource;
    return { dataSource, pooler };
  }

  private async changeIfAllowed(dataSource: DataSource): Promise<string[]> {
    const { migrates = 'always' } = this.options;
    if (migrates === 'always') return this.migrate(dataSource);
    const { isEmpty, names } = await pendingChanges(dataSource);
    if (names.length === 0) return [];
    if (isEmpty && migrates === 'when-empty') return this.migrate(dataSource);
    throw new SchemaPendingError(names);
  }

  /** As the owner if there is one, so that the gateway itself can change neither tables nor triggers. */
  private async migrate(dataSource: DataSource, isTrial = false): Promise<string[]> {
    const { migrationDatabaseUrl: url, readerDatabaseUrl } = this.options;
    if (url === undefined) return runMigrations(dataSource, { isTrial });
    const [role] = await dataSource.query<{ name: string }[]>('SELECT current_user AS name');
    const pooler = await this.poolerOf(url);
    const owner = createDataSource({ url, pooler });
    const readAs = await this.readerIn(dataSource, readerDatabaseUrl);
    return runMigrations(owner, { runAs: role?.name, readAs, isTrial });
  }

  /** The gateway does not need this role, so it starts without it. */
  private async readerIn(dataSource: DataSource, url: string | undefined) {
    if (url === undefined) return undefined;
    const { name } = roleIn(url);
    const found = await dataSource.query<unknown[]>('SELECT FROM pg_roles WHERE rolname = $1', [
      name,
    ]);
    if (found.length > 0) return name;
    this.logger.warn(`READER_DATABASE_URL names no role of the database: database:roles makes it`);
    return undefined;
  }

  /** Closes the connections, then stops the embedded server if this process started it. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.dataSource?.isInitialized) await this.dataSource.destroy();
    await this.server?.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.close();
  }

  private async startServer(): Promise<string> {
    const { dataDir, shareEmbedded } = this.options;
    const options: EmbeddedPostgresOptions = {
      dataDir,
      onLog: (line) => {
        this.logger.debug(line);
      },
      onFailure: (error) => {
        this.logger.error(`The embedded PostgreSQL is down for good: ${error.message}`);
      },
    };
    this.server = shareEmbedded
      ? await EmbeddedPostgres.attachOrStart(options)
      : await EmbeddedPostgres.start(options);
    return this.server.url;
  }

  /** The embedded server has no pooler. */
  private async poolerOf(url: string): Promise<Pooler> {
    if (this.options.databaseUrl === undefined) return 'none';
    const pooler = await findPooler(url, this.options.pooler ?? 'auto');
    if (pooler !== 'none') {
      const names = pooler === 'named' ? 'keeps' : 'does not keep';
      this.logger.log(`A pooler is in front of the database; it ${names} the names of statements`);
    }
    return pooler;
  }

  /** Session settings that cannot be set at the start of a session, and server settings that may lose money. */
  private async settle(dataSource: DataSource, pooler: Pooler): Promise<void> {
    if (pooler !== 'none') await setForRole(dataSource, this.logger);
    if (this.options.databaseUrl !== undefined) await warnOfServer(dataSource, this.logger);
  }

  private connect(url: string, pooler: Pooler): Promise<DataSource> {
    const { poolSize } = this.options;
    const onPoolError = (error: Error): void => {
      // A server that is being stopped may end a connection before it has read our close message.
      if (this.isClosing) return;
      this.logger.warn(`A database connection broke: ${error.message}`);
    };
    const { statementSeconds } = this.metrics ?? {};
    return createDataSource({
      url,
      pooler,
      onPoolError,
      ...(statementSeconds && {
        onStatement: (statement, seconds) => {
          statementSeconds.observe({ statement }, seconds);
        },
      }),
      ...(poolSize !== undefined && { poolSize }),
    }).initialize();
  }
}
