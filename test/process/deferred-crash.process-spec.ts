import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import type { JsonObject } from '../../src/common/json-object.js';
import { silentWav } from '../support/dubbing-harness.js';
import { send } from '../support/http-answer.js';
import {
  cleanUp,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const CREDIT = 10_000_000n;
const SECRET = 'a-secret-of-webhooks';

let database: TestDatabase;
let upstream: StubUpstream;
let hooks: WebhookReceiver;
let account: Awaited<ReturnType<GatewayProgram['account']>>;
let running: GatewayProgram;

const settings = (): NodeJS.ProcessEnv => ({
  DATABASE_URL: database.url,
  ELEVENLABS_API_KEY: 'upstream-key',
  ELEVENLABS_BASE_URL: upstream.url,
  TASK_TICK_MS: '50',
  ...hooks.settings,
});

beforeAll(async () => {
  [database, upstream, hooks] = await Promise.all([
    createTestDatabase(),
    StubUpstream.start(),
    startWebhookReceiver(),
  ]);
  // The provider takes the recording and never answers.
  upstream.reply = () => undefined;
  running = await startGatewayProgram(settings());
  account = await running.account(CREDIT);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([upstream.stop(), hooks.stop()]);
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

async function submitted(at: GatewayProgram, key: string): Promise<string> {
  const before = upstream.seen.length;
  const answer = await posted(at, key);
  expect(answer.status === 202 ? '' : answer.bytes.toString()).toBe('');
  await until(() => upstream.seen.length > before);
  return (answer.json as { id: string }).id;
}

function posted(at: GatewayProgram, key: string) {
  const form = new FormData();
  form.append('model', 'aud-voice-isolator');
  form.append('webhook', hooks.url);
  form.append('webhook_secret', SECRET);
  form.append('file', new Blob([new Uint8Array(silentWav(6))]), 'a.wav');
  const headers = { ...account.headers, prefer: 'respond-async', 'idempotency-key': key };
  return send(`${at.url}/v1/audio/isolation`, { method: 'POST', headers, body: form });
}

const read = async (at: GatewayProgram, id: string): Promise<JsonObject> =>
  (await send(`${at.url}/v1/tasks/${id}`, { headers: account.headers })).json as JsonObject;

const deliveries = (id: string) =>
  hooks.received
    .map(({ body }) => JSON.parse(body.toString()) as JsonObject)
    .filter((body) => body.id === id);

const left = async () => {
  const [row] = await database.dataSource.query<JsonObject[]>(
    `SELECT posted, held, (SELECT count(*)::int FROM stored_file f WHERE f.account_id = a.id AND expires_at > now()) AS files
       FROM account a WHERE id = $1`,
    [account.accountId.replace('acct_', '')],
  );
  return row;
};
const NOTHING = { posted: String(CREDIT), held: '0', files: 0 };

describe('a call as a task', () => {
  it(
    'is failed and free, told once, and its upload is gone, when its process is killed',
    async () => {
      const id = await submitted(running, 'killed');
      expect(await read(running, id)).toMatchObject({ status: 'processing' });
      expect(await left()).toMatchObject({ files: 1 });
      await running.end('SIGKILL');
      // As after 30 s, when the lease of the killed process ends.
      await database.dataSource.query('UPDATE task_work SET due_at = now()');
      running = await startGatewayProgram(settings());
      await until(() => deliveries(id).length > 0);
      const task = await read(running, id);
      expect(task).toMatchObject({
        status: 'failed',
        charged_microusd: null,
        error: { code: 'provider_task_failed', message: 'The work was lost before its end.' },
      });
      expect(deliveries(id)).toEqual([task]);
      await until(async () => (await left())?.files === 0);
      expect(await left()).toEqual(NOTHING);
      expect((await auditLedger(database.dataSource)).discrepancies).toEqual([]);
      // It is never sent again, and its key leads to it.
      expect(upstream.seen).toHaveLength(1);
      expect((await posted(running, 'killed')).json).toEqual(task);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'is failed and free at SIGTERM, when the time to drain is over',
    async () => {
      const brief = await startGatewayProgram({ ...settings(), DRAIN_TIMEOUT_MS: '300' });
      await running.end('SIGTERM');
      const id = await submitted(brief, 'drained');
      expect(await brief.end('SIGTERM')).toEqual({ code: 0, signal: null });
      running = await startGatewayProgram(settings());
      await database.dataSource.query('UPDATE task_work SET due_at = now()');
      await until(async () => (await read(running, id)).status === 'failed');
      await until(async () => (await left())?.files === 0);
      expect(await left()).toEqual(NOTHING);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
