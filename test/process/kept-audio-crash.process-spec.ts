import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SystemClock } from '../../src/common/time/clock.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { LocalFileStore } from '../../src/platform/storage/local-file-store.js';
import { StoredFileSweeper } from '../../src/platform/storage/stored-file-sweeper.js';
import { StoredFiles } from '../../src/platform/storage/stored-files.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../support/stub-speech.js';
import type { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { IDLE_TICKER } from '../support/test-ledger.js';
import { until } from '../support/until.js';

const AUDIO = Buffer.concat([MP3_HEAD, randomBytes(3_000_000)]);
const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let database: TestDatabase;
let stub: StubUpstream;
let folder: string;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  stub = await startStubSpeech(AUDIO);
  folder = await temporaryFolder();
  settings = {
    ...servedBy(stub),
    DATABASE_URL: database.url,
    DATA_DIR: join(folder, 'data'),
    STORAGE_URL: `file://${join(folder, 'files')}`,
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([stub.stop(), database.drop()]);
}, PROCESS_TEST_TIMEOUT_MS);

const query = <T>(sql: string) => database.dataSource.query<T[]>(sql);

async function filesBelow(name: string): Promise<string[]> {
  const path = join(folder, name);
  const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** Speech that is to be kept; its client does not care about the end. */
async function speak(gateway: GatewayProgram): Promise<void> {
  const { headers } = await gateway.account();
  const sent = postJson(`${gateway.url}/v1/audio/speech`, { ...headers, prefer: 'keep' }, HELLO);
  sent.catch(() => undefined);
}

async function sweep(): Promise<void> {
  const store = new LocalFileStore(join(folder, 'files'));
  const clock = new SystemClock();
  const files = new StoredFiles(store, database.dataSource, clock, new Metrics());
  await new StoredFileSweeper(files, database.dataSource, clock, IDLE_TICKER).sweep();
}

describe('a gateway that is killed while it keeps audio', () => {
  it(
    'leaves no file where it was still being sent',
    async () => {
      const gateway = await startGatewayProgram(settings);
      stub.reply = (response) => response.write(AUDIO);
      const seen = stub.seen.length;
      await speak(gateway);
      await until(() => Promise.resolve(stub.seen.length > seen));
      await new Promise((resolve) => setTimeout(resolve, 500));
      await gateway.end('SIGKILL');
      expect(await filesBelow('data/uploads')).toEqual([]);
      expect(await filesBelow('files')).toEqual([]);
      expect(await query('SELECT FROM stored_file')).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'leaves a file that is swept after an hour where its row was not written',
    async () => {
      const gateway = await startGatewayProgram(settings);
      stub.reply = (response) => response.end(AUDIO);
      const lock = database.dataSource.createQueryRunner();
      await lock.startTransaction();
      await lock.query('LOCK TABLE kept_answer IN SHARE MODE');
      await speak(gateway);
      await until(
        async () => (await query(`SELECT FROM stored_file WHERE state = 'stored'`)).length === 1,
      );
      await until(async () => (await query(WAITING)).length > 0);
      await gateway.end('SIGKILL');
      // The server does not learn of it before it answers, and would keep the answer.
      await until(async () => {
        await query(`SELECT pg_terminate_backend(pid) FROM (${WAITING}) w`);
        return (await query(WAITING)).length === 0;
      });
      await lock.rollbackTransaction();
      await lock.release();
      expect(await query('SELECT FROM kept_answer')).toEqual([]);
      expect(
        await query(`SELECT FROM stored_file WHERE expires_at > now() + interval '61 min'`),
      ).toEqual([]);
      expect(await filesBelow('files')).toHaveLength(1);
      await query(`UPDATE stored_file SET expires_at = expires_at - interval '2 hours 1 minute'`);
      await sweep();
      expect(await filesBelow('files')).toEqual([]);
      expect(await query('SELECT FROM stored_file')).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
