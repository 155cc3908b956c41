import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditBooks } from '../../src/billing/audit/usage-audit.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { EVENT_TYPES } from '../../src/webhooks/endpoints/event-type.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

/** By hand more, with `npm run test:crash -- tasks`. */
const KILLS = Number(process.env.KILLS ?? 4);
const TASKS_PER_LIFE = 8;
const CALLS_PER_LIFE = 12;
const MAX_LIFE_MS = 1_000;
/** A kill takes a start, so more of them take longer. */
const TEST_TIMEOUT_MS = PROCESS_TEST_TIMEOUT_MS + KILLS * 10_000;
const RETRY_MS = 100;
const CREDIT = 100_000_000n;
const SPEECH_PRICE = 600;
const RUN_LIMIT = SPEECH_PRICE * 5;
/** Every call takes what is available below it, and every end of one brings it back. */
const LOW_MARK = CREDIT - 1n;
const PATHS = ['/one', '/two'] as const;

interface Told {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, string | number | null>>;
}

let database: TestDatabase;
let sandbox: Sandbox;
let receiver: WebhookReceiver;
let gateway: GatewayProgram;
let settings: NodeJS.ProcessEnv;
let headers: Record<string, string>;

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await startSandbox();
  receiver = await startWebhookReceiver();
  settings = {
    ...receiver.settings,
    DATABASE_URL: database.url,
    PORT: String(await freePort()),
    TTAPI_API_KEY: sandbox.apiKey,
    TTAPI_BASE_URL: `${sandbox.url}/ttapi`,
    ELEVENLABS_API_KEY: sandbox.apiKey,
    ELEVENLABS_BASE_URL: `${sandbox.url}/elevenlabs`,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
    HOLD_SWEEP_MS: '1000',
  };
  gateway = await startGatewayProgram(settings);
  ({ headers } = await gateway.account(CREDIT, { scopes: ['read', 'call', 'manage'] }));
  for (const path of PATHS) {
    const url = new URL(path, receiver.url).href;
    const endpoint = { url, secret: 'a-secret-of-16-or-more', events: EVENT_TYPES };
    const made = await postJson(`${gateway.url}/v1/webhook-endpoints`, headers, endpoint);
    expect(made.status).toBe(201);
  }
  await query(`UPDATE account SET low_balance = $1`, [LOW_MARK.toString()]);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await Promise.all([sandbox.close(), receiver.stop()]);
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

const query = <Row>(sql: string, parameters: unknown[] = []) =>
  database.dataSource.query<Row[]>(sql, parameters);

/** Submits until the request is accepted, with one idempotency key. */
async function submitted(prompt: string): Promise<void> {
  const name = randomUUID();
  const body = { model: 'song-music', prompt, instrumental: false };
  for (;;) {
    const url = `${gateway.url}/v1/music/generations`;
    const sent = { ...headers, 'idempotency-key': name };
    const answer = await postJson(url, sent, body).catch(() => undefined);
    if (answer?.status === 202) return;
    if (answer?.status === 400) throw new Error(answer.bytes.toString());
    await sleep(RETRY_MS);
  }
}

/** Calls of one run, more than its limit allows; a kill may break each of them. */
async function calls(run: string): Promise<void> {
  const named = { 'x-gateway-run': run, 'x-gateway-run-limit-microusd': String(RUN_LIMIT) };
  for (let nr = 0; nr < CALLS_PER_LIFE; nr++) {
    const url = `${gateway.url}/v1/audio/speech`;
    await postJson(url, { ...headers, ...named }, HELLO).catch(() => undefined);
  }
}

/** Kills the gateway and starts another; the leases of the dead one are ended before. */
async function killAndRestart(): Promise<void> {
  await sleep(Math.random() * MAX_LIFE_MS);
  await gateway.end('SIGKILL');
  await query(`UPDATE task_work SET due_at = least(due_at, now())`);
  await query(`UPDATE idempotency_key SET lease_until = now() WHERE task_id IS NULL`);
  await query(`UPDATE webhook_delivery SET due_at = now() WHERE is_under_way`);
  gateway = await startGatewayProgram(settings);
}

/** What the deliveries to one endpoint tell, in the order in which they were written. */
async function toldTo(path: string): Promise<Told[]> {
  const rows = await query<{ body: Buffer; status: string }>(
    `SELECT body, status FROM webhook_delivery WHERE event IS NOT NULL AND url LIKE '%' || $1 ORDER BY id`,
    [path],
  );
  expect([...new Set(rows.map(({ status }) => status))]).toEqual(['delivered']);
  return rows.map(({ body }) => JSON.parse(body.toString()) as Told);
}

const sorted = (texts: readonly string[]): string[] => [...texts].sort();

async function everythingIsOver(): Promise<void> {
  const open = `
    SELECT (SELECT count(*) FROM task WHERE status IN ('queued', 'processing'))
         + (SELECT count(*) FROM execution WHERE status = 'running')
         + (SELECT count(*) FROM webhook_delivery WHERE status = 'pending') AS n`;
  await until(async () => (await query<{ n: string }>(open))[0]?.n === '0', TEST_TIMEOUT_MS);
}

describe('a gateway that is killed again and again', () => {
  it(
    'loses and doubles no event: each is there with what caused it, and arrives',
    async () => {
      const work: Promise<unknown>[] = [];
      for (let life = 0; life <= KILLS; life += 1) {
        for (let nr = 0; nr < TASKS_PER_LIFE; nr += 1) {
          const magic = nr % 4 === 0 ? '[[sandbox:task-fails]]' : '';
          work.push(submitted(`order ${magic}[[sandbox:task-ms=200]]`));
        }
        work.push(calls(`run-${life}`));
        if (life < KILLS) await killAndRestart();
      }
      await Promise.all(work);
      await everythingIsOver();

      const [one, two] = await Promise.all(PATHS.map((path) => toldTo(path)));
      expect(sorted(one!.map(({ id }) => id))).toEqual(sorted(two!.map(({ id }) => id)));
      expect(new Set(one!.map(({ id }) => id)).size).toBe(one!.length);
      for (const [index, path] of PATHS.entries()) {
        const arrived = receiver.received.filter((delivery) => delivery.path === path);
        const ids = arrived.map(({ body }) => (JSON.parse(body.toString()) as Told).id);
        expect(sorted([...new Set(ids)])).toEqual(sorted([one, two][index]!.map(({ id }) => id)));
      }

      // A task is told once as what it is. A kill in its submission may leave its outcome unknown.
      const tasks = await query<{ task_id: string; status: string }>(
        `SELECT 'task_' || replace(id::text, '-', '') AS task_id, status FROM task`,
      );
      expect(tasks).toHaveLength((KILLS + 1) * TASKS_PER_LIFE);
      const ends = one!.filter(({ type }) => type.startsWith('task.'));
      expect(sorted(ends.map(({ data }) => `${data.task_id} ${data.status}`))).toEqual(
        sorted(tasks.map((task) => `${task.task_id} ${task.status}`)),
      );

      // A run that has spent all it may is told of once at 100 percent, and at most once before.
      const runs = await query<{ id: string; spent: string }>('SELECT id, spent FROM run');
      const told = one!.filter(({ type }) => type === 'limit.reached').map(({ data }) => data);
      for (const { id, spent } of runs) {
        const percents = told.flatMap(({ run, percent }) => (run === id ? [percent] : []));
        const needed =
          Number(spent) === RUN_LIMIT ? [100] : Number(spent) >= RUN_LIMIT * 0.8 ? [80] : [];
        expect({ id, percents }).toEqual({ id, percents: expect.arrayContaining(needed) });
        expect(new Set(percents).size).toBe(percents.length);
      }

      // The balance fell for good, so its last event stands; each of the others was followed by a rise.
      const low = one!.filter(({ type }) => type === 'balance.low');
      expect(low.length).toBeGreaterThan(0);
      expect(await query('SELECT is_low, posted < low_balance AS is_below FROM account')).toEqual([
        { is_low: true, is_below: true },
      ]);
      expect(await auditBooks(database.dataSource, 'full')).toMatchObject({ ok: true });
    },
    TEST_TIMEOUT_MS,
  );
});
