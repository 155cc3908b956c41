import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import type { JsonObject } from '../../src/common/json-object.js';
import { chunk, event } from '../support/chat-upstream-harness.js';
import { postJson, send } from '../support/http-answer.js';
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
import { DAY_MS } from '../../src/common/time/spans.js';

const CREDIT = 10_000_000n;
/** The process does no tasks of its own accord. */
const IDLE = String(DAY_MS);

let database: TestDatabase;
let upstream: StubUpstream;
let hooks: WebhookReceiver;
let headers: Readonly<Record<string, string>>;
let accountId: string;
let running: GatewayProgram;

const settings = (): NodeJS.ProcessEnv => ({
  DATABASE_URL: database.url,
  OPENAI_API_KEY: 'upstream-key',
  OPENAI_BASE_URL: `${upstream.url}/v1`,
  TASK_TICK_MS: '50',
  ...hooks.settings,
});

beforeAll(async () => {
  [database, upstream, hooks] = await Promise.all([
    createTestDatabase(),
    StubUpstream.start(),
    startWebhookReceiver(),
  ]);
  upstream.reply = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event(chunk('Hello there, this is ')));
  };
  running = await startGatewayProgram(settings());
  ({ headers, accountId } = await running.account(CREDIT));
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([upstream.stop(), hooks.stop()]);
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

async function submitted(at: GatewayProgram): Promise<string> {
  const before = upstream.seen.length;
  const answer = await postJson(`${at.url}/v1/responses`, headers, {
    model: 'gen-4-mini',
    input: 'Say hello',
    background: true,
    webhook: hooks.url,
    webhook_secret: 'a-secret-of-webhooks',
  });
  expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  await until(() => upstream.seen.length > before);
  return (answer.json as { id: string }).id;
}

const read = async (at: GatewayProgram, id: string): Promise<JsonObject> =>
  (await send(`${at.url}/v1/responses/${id}`, { headers })).json as JsonObject;

const deliveries = (id: string) =>
  hooks.received
    .map(({ body }) => JSON.parse(body.toString()) as JsonObject)
    .filter((body) => body.id === id);

const money = async () => {
  const [row] = await database.dataSource.query<{ posted: string; held: string }[]>(
    'SELECT posted, held FROM account WHERE id = $1',
    [accountId.replace('acct_', '')],
  );
  return row;
};

describe('a response in the background', () => {
  it(
    'is failed, its hold released once and its webhook sent, when its process is killed',
    async () => {
      const id = await submitted(running);
      expect(await read(running, id)).toMatchObject({ status: 'in_progress' });
      expect(Number((await money())?.held)).toBeGreaterThan(0);
      await running.end('SIGKILL');
      // As after 30 s, when the lease of the killed process ends.
      await database.dataSource.query('UPDATE task_work SET due_at = now()');
      running = await startGatewayProgram(settings());
      await until(() => deliveries(id).length > 0);
      const response = await read(running, id);
      expect(response).toMatchObject({
        status: 'failed',
        background: true,
        error: { code: 'server_error' },
        usage: null,
      });
      expect(deliveries(id)).toEqual([response]);
      expect(await money()).toEqual({ posted: String(CREDIT), held: '0' });
      expect((await auditLedger(database.dataSource)).discrepancies).toEqual([]);
      expect(upstream.seen).toHaveLength(1);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'is failed and its hold released at SIGTERM, when the time to drain is over',
    async () => {
      const before = await money();
      const brief = await startGatewayProgram({ ...settings(), DRAIN_TIMEOUT_MS: '300' });
      await running.end('SIGTERM');
      const id = await submitted(brief);
      expect(await brief.end('SIGTERM')).toEqual({ code: 0, signal: null });
      running = await startGatewayProgram(settings());
      expect(await read(running, id)).toMatchObject({
        status: 'failed',
        error: { code: 'server_error', message: 'The gateway is shutting down.' },
      });
      expect(await money()).toEqual(before);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'is cancelled by a request to another process, which ends the work at the provider',
    async () => {
      const other = await startGatewayProgram({ ...settings(), TASK_TICK_MS: IDLE });
      const id = await submitted(other);
      upstream.aborted = 0;
      await postJson(`${other.url}/v1/responses/${id}/cancel`, headers, {});
      await upstream.untilAborted();
      await until(async () => (await read(other, id)).status === 'cancelled');
      const { usage } = (await read(other, id)) as { usage: { cost_microusd: number } };
      expect(usage.cost_microusd).toBeGreaterThan(0);
      expect(await money()).toEqual({
        posted: String(CREDIT - BigInt(usage.cost_microusd)),
        held: '0',
      });
      expect((await auditLedger(database.dataSource)).discrepancies).toEqual([]);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
