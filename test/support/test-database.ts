import { randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { createDataSource } from '../../src/database/data-source.js';

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
  const name = `shim_test_${randomUUID().replaceAll('-', '')}`;
  await onServer(`CREATE DATABASE ${name} TEMPLATE ${required('TEST_TEMPLATE')}`);
  const url = new URL(required('TEST_SERVER_URL'));
  url.pathname = `/${name}`;
  const dataSource = createDataSource({ url: url.href, poolSize: POOL_SIZE });
  await dataSource.initialize();
  return {
    url: url.href,
    dataSource,
    async drop() {
      if (dataSource.isInitialized) await dataSource.destroy();
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
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
