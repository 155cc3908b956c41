import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  cleanUp,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  statusOf,
  until,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Loaded into the gateway. It throws an error that nothing handles, once per signal. */
const STRAY = `import { PassThrough } from 'node:stream';
process.on('SIGUSR2', () => {
  const stream = new PassThrough();
  stream.destroy(new Error('stray'));
});`;

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

it(
  'an error without a handler is logged and the process serves on; at the tenth in a minute it drains and ends',
  async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'shim-stray-')), 'stray.mjs');
    writeFileSync(file, STRAY);
    const gateway = await startGatewayProgram({
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import ${pathToFileURL(file).href}`,
    });
    const caught = () => gateway.stdout().split('an error that nobody handled').length - 1;
    for (let count = 1; count <= 9; count++) {
      process.kill(gateway.pid, 'SIGUSR2');
      await until(() => caught() === count);
    }
    expect(await statusOf(`${gateway.url}/health/ready`)).toBe(200);
    process.kill(gateway.pid, 'SIGUSR2');
    expect(await gateway.exited).toEqual({ code: 1, signal: null });
    expect(gateway.stdout()).toMatch(/the same error came too often/);
  },
  PROCESS_TEST_TIMEOUT_MS,
);
