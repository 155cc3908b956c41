import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { SystemClock } from '../../src/common/time/clock.js';
import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { LocalFileStore } from '../../src/platform/storage/local-file-store.js';
import { StoredFileSweeper } from '../../src/platform/storage/stored-file-sweeper.js';
import { StoredFiles } from '../../src/platform/storage/stored-files.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  freePort,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
  temporaryFolder,
} from '../support/process.js';
import { until } from '../support/until.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { IDLE_TICKER } from '../support/test-ledger.js';
import { VIDEO, type Video } from '../support/video-harness.js';

const WAITING = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

let database: TestDatabase;
let provider: StubUpstream;
let settings: NodeJS.ProcessEnv;
let folder: string;
let file: Buffer;
const sent = new EventTarget();
let isHeld = true;

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await StubUpstream.start();
  folder = await temporaryFolder();
  file = await drawVideo({ prompt: 'The sea', width: 64, height: 48, seconds: 1 });
  provider.reply = (response, { method, url }) => {
    if (url.endsWith('/content')) {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': file.length });
      response.write(file.subarray(0, file.length / 2));
      const end = () => response.end(file.subarray(file.length / 2));
      if (isHeld) sent.addEventListener('rest', end);
      else end();
      return;
    }
    const status = method === 'POST' ? 'queued' : 'completed';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'video_1', object: 'video', status, progress: 0 }));
  };
  settings = {
    DATABASE_URL: database.url,
    PORT: String(await freePort()),
    STORAGE_URL: `file://${folder}`,
    VIDEO_API_KEY: 'stub-provider-key',
    VIDEO_BASE_URL: provider.url,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([provider.stop(), database.drop()]);
}, PROCESS_TEST_TIMEOUT_MS);

async function filesNamed(isWanted: (name: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && isWanted(entry.name)).map(({ name }) => name);
}
const whole = () => filesNamed((name) => !name.endsWith('.part'));
const query = <T>(sql: string) => database.dataSource.query<T[]>(sql);

describe('a gateway that is killed between the storing of a file and the end of its task', () => {
  it(
    'leaves a file that is swept within hours, while the one that the task names stays',
    async () => {
      const killed = await startGatewayProgram(settings);
      const { headers } = await killed.account(10_000_000n);
      const body = { ...VIDEO, prompt: 'The sea' };
      const { id } = (await postJson(`${killed.url}/v1/videos`, headers, body)).json as Video;
      await until(async () => (await filesNamed((name) => name.endsWith('.part'))).length === 1);
      const lock = database.dataSource.createQueryRunner();
      await lock.startTransaction();
      await lock.query('SELECT FROM task FOR UPDATE');
      isHeld = false;
      sent.dispatchEvent(new Event('rest'));
      const stored = `SELECT id FROM stored_file WHERE state = 'stored'`;
      await until(async () => (await query(stored)).length === 1);
      await until(async () => (await query(WAITING)).length > 0);
      await killed.end('SIGKILL');
      // The server does not learn of it before it answers, and would record the end.
      await until(async () => {
        await query(`SELECT pg_terminate_backend(pid) FROM (${WAITING}) w`);
        return (await query(WAITING)).length === 0;
      });
      await lock.rollbackTransaction();
      await lock.release();
      expect(await query(`SELECT FROM task WHERE status = 'succeeded'`)).toEqual([]);
      await query(`UPDATE task_work SET due_at = least(due_at, now())`);

      const gateway = await startGatewayProgram(settings);
      await until(async () => (await query('SELECT FROM task_work')).length === 0);
      expect(await whole()).toHaveLength(2);
      await query(`UPDATE stored_file SET expires_at = expires_at - interval '2 hours 1 second'`);
      const store = new LocalFileStore(folder);
      const clock = new SystemClock();
      const files = new StoredFiles(store, database.dataSource, clock, new Metrics());
      await new StoredFileSweeper(files, database.dataSource, clock, IDLE_TICKER).sweep();
      const [named] = await query<{ id: string }>(`SELECT content ->> 'fileId' AS id FROM task`);
      expect(await whole()).toEqual([named?.id]);
      const content = await send(`${gateway.url}/v1/videos/${id}/content`, { headers });
      expect(content.bytes.equals(file)).toBe(true);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
