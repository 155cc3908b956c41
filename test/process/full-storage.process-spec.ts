import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
import { silentWav } from '../support/dubbing-harness.js';
import { errorOf, postJson, send } from '../support/http-answer.js';
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
import { VIDEO, VIDEO_PRICE, type Video } from '../support/video-harness.js';

/** 12 kB: less than the source of a dub and than a video. */
const FILE_BLOCKS = 24;
const SOURCE_SECONDS = 20;
const CREDIT = 10_000_000n;

let database: TestDatabase;
let provider: StubUpstream;
let host: StubUpstream;
let folder: string;
let settings: NodeJS.ProcessEnv;
let file: Buffer;

beforeAll(async () => {
  database = await createTestDatabase();
  host = await StubUpstream.start();
  host.reply = (response) => response.end(silentWav(SOURCE_SECONDS));
  provider = await StubUpstream.start();
  file = await drawVideo({ prompt: 'The sea', width: 320, height: 240, seconds: 2 });
  provider.reply = (response, { method, url }) => {
    if (url.endsWith('/content')) {
      response.setHeader('content-type', 'video/mp4');
      response.end(file);
      return;
    }
    const status = method === 'POST' ? 'queued' : 'completed';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'video_1', object: 'video', status, progress: 0 }));
  };
  folder = await temporaryFolder();
  settings = {
    DATABASE_URL: database.url,
    STORAGE_URL: `file://${folder}`,
    PORT: String(await freePort()),
    EGRESS_ALLOW: new URL(host.url).host,
    SANDBOX: 'on',
    SANDBOX_CHARGES: 'on',
    VIDEO_API_KEY: 'stub-provider-key',
    VIDEO_BASE_URL: provider.url,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '50',
  };
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([host.stop(), provider.stop(), database.drop()]);
}, PROCESS_TEST_TIMEOUT_MS);

async function files(): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe('a gateway whose storage is full', () => {
  it(
    'refuses what it cannot keep, and keeps a finished video waiting, unpaid, until it can be stored',
    async () => {
      expect(file.length).toBeGreaterThan(FILE_BLOCKS * 512);
      const full = await startGatewayProgram(settings, { fileBlocks: FILE_BLOCKS });
      const { headers } = await full.account(CREDIT);
      const read = async (path: string) => send(`${full.url}${path}`, { headers });

      const dub = {
        model: 'aud-dubbing-v1',
        source_url: `${host.url}/a.wav`,
        target_language: 'fr',
      };
      const refused = await postJson(`${full.url}/v1/audio/dubbing`, headers, dub);
      expect({
        status: refused.status,
        error: (refused.json as { error: object }).error,
      }).toMatchObject({
        status: 503,
        error: { code: 'service_unavailable' },
      });
      expect(refused.headers.get('retry-after')).not.toBeNull();
      const form = new FormData();
      form.set('model', 'aud-scribe-v2');
      form.set('file', new Blob([new Uint8Array(silentWav(SOURCE_SECONDS))]), 'a.wav');
      const upload = await send(`${full.url}/v1/audio/transcriptions`, {
        method: 'POST',
        headers,
        body: form,
      });
      expect([upload.status, errorOf(upload).code]).toEqual([503, 'service_unavailable']);
      expect(upload.headers.get('retry-after')).not.toBeNull();
      expect(await database.dataSource.query('SELECT id FROM task')).toEqual([]);
      expect((await read('/v1/account')).json).toMatchObject({ held_microusd: '0' });

      const { id } = (await postJson(`${full.url}/v1/videos`, headers, VIDEO)).json as Video;
      const work = `SELECT 1 FROM task_work WHERE phase = 'collecting' AND put_offs > 2`;
      await until(async () => (await database.dataSource.query<unknown[]>(work)).length === 1);
      expect((await read(`/v1/videos/${id}`)).json).toMatchObject({ status: 'in_progress' });
      expect((await read(`/v1/videos/${id}/content`)).status).toBe(409);
      expect((await read('/v1/account')).json).toMatchObject({
        held_microusd: String(VIDEO_PRICE),
      });
      await full.end('SIGTERM');
      expect(await files()).toEqual([]);

      const roomy = await startGatewayProgram(settings);
      await until(async () => {
        const answer = await read(`/v1/videos/${id}`);
        return (answer.json as Video).status === 'completed';
      });
      expect((await read(`/v1/videos/${id}/content`)).bytes.equals(file)).toBe(true);
      expect(await files()).toHaveLength(1);
      expect(provider.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
      expect((await read('/v1/account')).json).toMatchObject({
        held_microusd: '0',
        available_microusd: String(CREDIT - VIDEO_PRICE),
      });
      expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
      await roomy.end('SIGTERM');
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
