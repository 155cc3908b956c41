import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CANARY } from '../support/canaries.js';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS, runBuilt, SECRET_KEY } from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

describe('the password of the database', () => {
  it('is not printed by a gateway that cannot start', async () => {
    const url = new URL(database.url);
    url.password = CANARY.databasePassword;
    url.pathname = '/no_such_database';
    const program = runBuilt('main.js', [], { PORT: '0', SECRET_KEY, DATABASE_URL: url.href });
    expect(await program.exited).toEqual({ code: 1, signal: null });
    expect(program.stderr()).toContain('no_such_database');
    expect(program.stdout() + program.stderr()).not.toContain(CANARY.databasePassword);
  });
});
