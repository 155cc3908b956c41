import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { createDataSource } from './data-source.js';
import {
  EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  type RunningPostgres,
} from './embedded/embedded-postgres.js';
import { findPooler, type Pooler, type PoolerSetting } from './pooler.js';
import { setForRole, warnOfServer } from './server-settings.js';
import { trying } from './server-choice.js';
import { runMigrations } from './run-migrations.js';
import { waitForDatabase } from './wait-for-database.js';

/** Which database to use. */
export interface DatabaseOptions {
  /** Undefined: the embedded PostgreSQL in `<dataDir>/postgres`. */
  readonly databaseUrl: string | undefined;
  /** The connection of the owner, which migrates. When undefined, the gateway's own connection migrates. */
  readonly migrationDatabaseUrl?: string | undefined;
  readonly dataDir: string;
  /** Whether there is a pooler in front of `databaseUrl`; absent: this is detected. */
  readonly pooler?: PoolerSetting;
  readonly poolSize?: number;
  /** Operator commands use the embedded server of a running gateway; a gateway starts its own. */
  readonly shareEmbedded?: boolean;
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

  constructor(@Inject(DATABASE_OPTIONS) private readonly options: DatabaseOptions) {}

  /**
   * Starts the embedded server if there is no URL, connects and migrates. If a step fails, the steps before are undone.
   */
  async open(): Promise<DataSource> {
    try {
      const url = this.options.databaseUrl ?? (await this.startServer());
      const onWait = (error: unknown): void => {
        this.logger.warn(`The database does not respond yet; trying again: ${String(error)}`);
      };
      const pooler = await waitForDatabase(() => this.poolerOf(url), onWait);
      const dataSource = await waitForDatabase(() => this.connect(url, pooler), onWait);
      this.dataSource = dataSource;
      const applied = await waitForDatabase(() => this.migrate(dataSource), onWait);
      await waitForDatabase(() => this.settle(dataSource, pooler), onWait);
      if (applied.length > 0) this.logger.log(`Changed the schema: ${applied.join(', ')}`);
      return dataSource;
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** As the owner if there is one, so that the gateway itself can change neither tables nor triggers. */
  private async migrate(dataSource: DataSource): Promise<string[]> {
    const { migrationDatabaseUrl: url } = this.options;
    if (url === undefined) return runMigrations(dataSource);
    const [role] = await dataSource.query<{ name: string }[]>('SELECT current_user AS name');
    const pooler = await this.poolerOf(url);
    const owner = createDataSource({ url, pooler });
    return trying(url, () => runMigrations(owner, role?.name));
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
    const dataSource = createDataSource({
      url,
      pooler,
      onPoolError,
      ...(poolSize !== undefined && { poolSize }),
    });
    return trying(url, () => dataSource.initialize());
  }
}
