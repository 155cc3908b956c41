import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/platform/database/data-source.js';

const POOL_SIZE = 8;

/** A migrated database of a test file's own. */
export interface TestDatabase {
  readonly url: string;
  /** Connected, over every entity class loaded when the database was made. */
  readonly dataSource: DataSource;
  /** Disconnects and drops it; call it in `afterAll`. */
  drop(): Promise<void>;
}

/** Clones the migrated template of this run; call it once per test file, in `beforeAll`. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const name = newName();
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${required('TEST_TEMPLATE')}`);
  const url = urlOf(name);
  const dataSource = createDataSource({ url, poolSize: POOL_SIZE });
  await dataSource.initialize();
  return {
    url,
    dataSource,
    async drop() {
      if (dataSource.isInitialized) await dataSource.destroy();
      await drop(name);
    },
  };
}

/** A database without anything in it, for a gateway that migrates it. */
export interface EmptyDatabase {
  readonly url: string;
  /** The rows of one statement. */
  query<T>(statement: string): Promise<T[]>;
  drop(): Promise<void>;
}

/** Makes one. */
export async function createEmptyDatabase(): Promise<EmptyDatabase> {
  const name = newName();
  await onServer(`CREATE DATABASE ${name}`);
  const url = urlOf(name);
  return {
    url,
    async query<T>(statement: string): Promise<T[]> {
      const dataSource = await createDataSource({ url, poolSize: 1 }).initialize();
      return dataSource.query<T[]>(statement).finally(() => dataSource.destroy());
    },
    drop: () => drop(name),
  };
}

const newName = (): string => `shim_test_${randomUUID().replaceAll('-', '')}`;
const drop = (name: string): Promise<void> => onServer(`DROP DATABASE ${name} WITH (FORCE)`);

function urlOf(name: string): string {
  const url = new URL(required('TEST_SERVER_URL'));
  url.pathname = `/${name}`;
  return url.href;
}

async function onServer(statement: string): Promise<void> {
  const server = createDataSource({ url: required('TEST_SERVER_URL'), poolSize: 1 });
  await server.initialize();
  try {
    // Templates are cloned one at a time, so under parallel tests this may wait longer than normal work.
    await server.query('SET statement_timeout = 30000');
    await server.query(statement);
  } finally {
    await server.destroy();
  }
}

function required(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) throw new Error(`${variable} is not set: run the tests with npm test`);
  return value;
}
