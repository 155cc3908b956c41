import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
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
import { VIDEO, VIDEO_PRICE, type Video } from '../support/video-harness.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const CREDIT = 10_000_000n;

let database: TestDatabase;
let provider: StubUpstream;
let receiver: WebhookReceiver;
let settings: NodeJS.ProcessEnv;
let folder: string;
let file: Buffer;
/** The provider sends half of the file and then nothing more. */
let isStuck = true;
let downloads = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  provider = await StubUpstream.start();
  receiver = await startWebhookReceiver();
  folder = await temporaryFolder();
  file = await drawVideo({ prompt: 'The sea', width: 64, height: 48, seconds: 1 });
  provider.reply = (response, { method, url }) => {
    if (url.endsWith('/content')) {
      downloads += 1;
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': file.length });
      response.write(file.subarray(0, file.length / 2));
      if (!isStuck) response.end(file.subarray(file.length / 2));
      return;
    }
    const status = method === 'POST' ? 'queued' : 'completed';
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ id: 'video_1', object: 'video', status, progress: 0 }));
  };
  settings = {
    ...receiver.settings,
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
  await Promise.all([provider.stop(), receiver.stop(), database.drop()]);
}, PROCESS_TEST_TIMEOUT_MS);

async function filesNamed(isWanted: (name: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && isWanted(entry.name)).map(({ name }) => name);
}

describe('a gateway that is killed while the file of a video is being stored', () => {
  it(
    'has one file, one settlement and one webhook in the end',
    async () => {
      const killed = await startGatewayProgram(settings);
      const { headers } = await killed.account(CREDIT);
      const body = { ...VIDEO, prompt: 'The sea', webhook: receiver.url };
      const answer = await postJson(`${killed.url}/v1/videos`, headers, body);
      const { id } = answer.json as Video;
      await until(async () => (await filesNamed((name) => name.endsWith('.part'))).length === 1);
      await killed.end('SIGKILL');
      isStuck = false;
      // The lease of the dead process has ended.
      await database.dataSource.query(`UPDATE task_work SET due_at = least(due_at, now())`);

      const gateway = await startGatewayProgram(settings);
      await until(() => receiver.received.length > 0);
      const content = await send(`${gateway.url}/v1/videos/${id}/content`, { headers });
      expect(content.bytes.equals(file)).toBe(true);
      expect(downloads).toBe(2);
      expect(provider.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
      expect(await filesNamed((name) => !name.endsWith('.part'))).toHaveLength(1);
      const stored = `SELECT id FROM stored_file WHERE state = 'stored'`;
      expect(await database.dataSource.query(stored)).toHaveLength(1);
      const account = (await send(`${gateway.url}/v1/account`, { headers })).json;
      expect(account).toMatchObject({
        held_microusd: '0',
        available_microusd: String(CREDIT - VIDEO_PRICE),
      });
      expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
      const deliveries = await database.dataSource.query(`SELECT status FROM webhook_delivery`);
      expect(deliveries).toEqual([{ status: 'delivered' }]);
      expect(receiver.received).toHaveLength(1);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
