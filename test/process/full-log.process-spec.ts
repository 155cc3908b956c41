import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  cleanUp,
  freePort,
  PROCESS_TEST_TIMEOUT_MS,
  runProgram,
  SECRET_KEY,
  statusOf,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Lines that are written at once make a write of their own. */
const REQUESTS = 400;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

it(
  'a full disk under the log costs lines of the log, and nothing else',
  async () => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const command = `exec '${process.execPath}' dist/main.js > /dev/full`;
    const gateway = runProgram(['sh', '-c', command], {
      PORT: String(port),
      DATABASE_URL: database.url,
      SECRET_KEY,
    });
    await until(async () => (await statusOf(`${url}/health/ready`)) === 200);
    for (let count = 0; count < REQUESTS; count++) {
      expect(await statusOf(`${url}/nowhere`)).toBe(404);
    }
    expect(await gateway.end('SIGTERM')).toEqual({ code: 0, signal: null });
    expect(gateway.stderr()).toBe('');
  },
  PROCESS_TEST_TIMEOUT_MS,
);
