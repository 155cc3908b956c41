import pg, { type PoolClient, type PoolConfig } from 'pg';
import { ChosenClient, type ServerChoice } from './server-choice.js';

type Release = (error?: Error | boolean) => void;
type Acquired = (
  error: Error | undefined,
  client: PoolClient | undefined,
  release: Release,
) => void;

/** The driver's error for a caller who waited too long for a connection that others use; no server failed. */
const ALL_IN_USE = 'timeout exceeded when trying to connect';

/**
 * A pool whose connections go to the first of several servers that takes writes. One request for a connection tries each
 * server, so no caller gets an error because another server has to be used now. A connection whose server ended or became
 * read-only is closed, also when only a statement of it failed.
 */
export class ChosenPool extends pg.Pool {
  private readonly choice: ServerChoice;

  constructor(config: PoolConfig & { readonly choice: ServerChoice }) {
    super(config);
    this.choice = config.choice;
    this.on('release', (_error, client) => {
      // The pool removes a connection that has been told to end.
      if (isUnfit(client)) void client.end().catch(() => undefined);
    });
  }

  override connect(): Promise<PoolClient>;
  override connect(callback: Acquired): void;
  override connect(callback?: Acquired): Promise<PoolClient> | undefined {
    if (callback !== undefined) {
      this.acquire(this.choice.size, callback);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.acquire(this.choice.size, (error, client) => {
        if (client === undefined) reject(error ?? new Error('The pool gave no connection'));
        else resolve(client);
      });
    });
  }

  /** `left`: servers that may still be tried. */
  private acquire(left: number, callback: Acquired): void {
    super.connect((error, client, release) => {
      if (error !== undefined && left > 1 && error.message !== ALL_IN_USE) {
        this.acquire(left - 1, callback);
      } else if (client !== undefined && isUnfit(client)) {
        // Its server became read-only while nobody used it. Each turn closes one, so this ends.
        release(true);
        this.acquire(left, callback);
      } else callback(error, client, release);
    });
  }
}

function isUnfit(client: pg.Client | PoolClient): boolean {
  return client instanceof ChosenClient && client.isUnfit;
}

/** The driver as TypeORM uses it, with this pool. */
export const CHOSEN_DRIVER: unknown = Object.create(pg, { Pool: { value: ChosenPool } });
