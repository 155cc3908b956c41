import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { postJson, send } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** Short, so that a lease ends soon. */
const QUICK = { HOLD_SWEEP_MS: '300' };

let database: TestDatabase;
let api: GatewayProgram;
let worker: GatewayProgram;

beforeAll(async () => {
  database = await createTestDatabase();
  const settings = { DATABASE_URL: database.url, ...QUICK };
  [api, worker] = await Promise.all([
    startGatewayProgram({ ...settings, ROLE: 'api' }),
    startGatewayProgram({ ...settings, ROLE: 'worker' }),
  ]);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

describe('one process of each role on one database', () => {
  it('warns that files must be shared, and that its role in the database can change the books', async () => {
    for (const program of [api, worker]) {
      await until(() => program.stdout().includes('STORAGE_URL is a folder'));
      await until(() => program.stdout().includes('MIGRATION_DATABASE_URL is unset'));
    }
  });

  it('serves callers with ROLE=api and answers 404 on /v1 with ROLE=worker', async () => {
    const { headers } = await api.account();
    expect((await postJson(`${api.url}/v1/audio/speech`, headers, HELLO)).status).toBe(200);
    for (const path of ['/v1/audio/speech', '/v1/models', '/v1/account']) {
      const answer = await send(`${worker.url}${path}`, { headers });
      expect([path, answer.status, answer.json]).toMatchObject([
        path,
        404,
        { error: { code: 'not_found' } },
      ]);
    }
  });

  it(
    'has the worker end a task that was submitted at the api process, which tells the waiting reader',
    async () => {
      const { accountId, headers } = await api.account();
      const song = { model: 'song-lyrics', prompt: 'a lullaby' };
      const submitted = await postJson(`${api.url}/v1/music/generations`, headers, song);
      expect(submitted.status).toBe(202);
      const { id } = submitted.json as { readonly id: string };
      const waiting = { ...headers, prefer: 'wait=60' };
      const read = await send(`${api.url}/v1/tasks/${id}`, { headers: waiting });
      expect(read.json).toMatchObject({ id, status: 'succeeded' });
      const account = await worker.admin('GET', `/accounts/${accountId}`);
      expect(account.json).toMatchObject({ held_microusd: '0' });
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'has the worker release the holds of an api process that was killed',
    async () => {
      const doomed = await startGatewayProgram({
        DATABASE_URL: database.url,
        ROLE: 'api',
        ...QUICK,
      });
      const { accountId, headers } = await doomed.account();
      const held = async (): Promise<string> =>
        (
          (await worker.admin('GET', `/accounts/${accountId}`)).json as {
            readonly held_microusd: string;
          }
        ).held_microusd;
      const input = 'Hello [[sandbox:hang]]';
      postJson(`${doomed.url}/v1/audio/speech`, headers, { ...HELLO, input }).catch(
        () => undefined,
      );
      await until(async () => (await held()) !== '0');
      await doomed.end('SIGKILL');
      await until(async () => (await held()) === '0');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
