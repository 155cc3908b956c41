import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { type DatabaseProxy, startDatabaseProxy } from '../../../test/support/database-proxy.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { createDataSource } from './data-source.js';
import { PreparedStatement } from './prepared-statement.js';

const ANSWER_TIMEOUT_MS = 300;

describe('a prepared statement', () => {
  let database: TestDatabase;
  let proxy: DatabaseProxy;
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startDatabaseProxy(database.url);
    const url = proxy.through(database.url);
    dataSource = await createDataSource({ url, poolSize: 1 }).initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await proxy.stop();
    await database.drop();
  });

  const statement = () =>
    new PreparedStatement<{ sum: number; session: number }>(
      dataSource,
      'adds',
      'SELECT $1::int + $2::int AS sum, pg_backend_pid() AS session',
      ANSWER_TIMEOUT_MS,
    );

  it('returns the rows of its parameters, and the connection to the pool', async () => {
    const [first] = await statement().run([1, 2]);
    const [second] = await statement().run([3, 4]);
    expect([first?.sum, second?.sum]).toEqual([3, 7]);
    expect(second?.session).toBe(first?.session);
  });

  it('throws the error of the database, and the next one works', async () => {
    await expect(statement().run(['no number', 2])).rejects.toMatchObject({ code: '22P02' });
    await expect(statement().run([5, 6])).resolves.toMatchObject([{ sum: 11 }]);
  });

  it('is prepared again when the schema has changed, by every run under way too', async () => {
    await database.dataSource.query(
      'CREATE TABLE changing (id int); INSERT INTO changing VALUES (1)',
    );
    const rows = new PreparedStatement(database.dataSource, 'changing', 'SELECT * FROM changing');
    const runAll = () => Promise.all(Array.from({ length: 20 }, () => rows.run([])));
    expect(await runAll()).toEqual(Array(20).fill([{ id: 1 }]));
    await database.dataSource.query(`ALTER TABLE changing ADD COLUMN name text DEFAULT 'a'`);
    expect(await runAll()).toEqual(Array(20).fill([{ id: 1, name: 'a' }]));
  });

  it('throws ETIMEDOUT when it is not answered in time, and the next one has a new connection', async () => {
    const [before] = await statement().run([1, 1]);
    proxy.freeze();
    await expect(statement().run([1, 2])).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    const [after] = await statement().run([2, 2]);
    expect(after?.sum).toBe(4);
    expect(after?.session).not.toBe(before?.session);
  });
});
