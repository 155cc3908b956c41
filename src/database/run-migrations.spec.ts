import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { runMigrations } from './run-migrations.js';

describe('runMigrations', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  it('finds nothing pending in a migrated database', async () => {
    expect(await runMigrations(database.dataSource)).toEqual([]);
  });
});
