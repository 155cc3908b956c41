import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { fromPublicId } from '../../src/common/ids/public-id.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { postJson, send } from '../support/http-answer.js';
import {
  cleanUp,
  freePort,
  type GatewayProgram,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { until } from '../support/until.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

/** By hand more, with `npm run test:crash -- tasks`. */
const KILLS = Number(process.env.KILLS ?? 4);
const SUBMISSIONS_PER_LIFE = 12;
/** The gateway is killed between the first order of a life and so long after. */
const MAX_LIFE_MS = 1_200;
/** A kill takes a start, so more of them take longer. */
const TEST_TIMEOUT_MS = PROCESS_TEST_TIMEOUT_MS + KILLS * 10_000;
/** The provider takes up to so long before it accepts an order and again before it answers, so that kills fall there. */
const MAX_WAIT_MS = 100;
/** Of jobs that are told apart; more than are ordered. */
const MAX_JOBS = 10_000;
const RETRY_MS = 100;
const CREDIT = 100_000_000n;

let database: TestDatabase;
let sandbox: Sandbox;
let gateway: GatewayProgram;
let settings: NodeJS.ProcessEnv;

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await startSandbox();
  settings = {
    DATABASE_URL: database.url,
    PORT: String(await freePort()),
    TTAPI_API_KEY: sandbox.apiKey,
    TTAPI_BASE_URL: `${sandbox.url}/ttapi`,
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '200',
  };
  gateway = await startGatewayProgram(settings);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await sandbox.close();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

/** The words of an order; the provider waits as they say. */
function promptOf(name: string): string {
  const share = (Number(/\d+/.exec(name)?.[0]) % SUBMISSIONS_PER_LIFE) / SUBMISSIONS_PER_LIFE;
  const waits = { delay: share * MAX_WAIT_MS, 'late-answer': (1 - share) * MAX_WAIT_MS };
  const magic = Object.entries(waits).map(([word, ms]) => `[[sandbox:${word}=${Math.round(ms)}]]`);
  return `${name} ${magic.join('')}[[sandbox:task-ms=300]]`;
}

/** How many jobs the provider has accepted for each order, by its own books: each of them is to be paid. */
async function acceptedJobs(): Promise<ReadonlyMap<string, number>> {
  const jobs = new Map<string, number>();
  for (const { label } of await sandbox.jobs(MAX_JOBS)) {
    const name = /order \d+/.exec(label)?.[0] ?? label;
    jobs.set(name, (jobs.get(name) ?? 0) + 1);
  }
  return jobs;
}

/** Submits until the request is accepted, with one idempotency key; returns the id of the task. */
async function submitted(name: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const url = `${gateway.url}/v1/music/generations`;
  const body = { model: 'song-music', prompt: promptOf(name), instrumental: false };
  for (;;) {
    const answer = await postJson(url, { ...headers, 'idempotency-key': name }, body).catch(
      () => undefined,
    );
    if (answer?.status === 202) return (answer.json as { id: string }).id;
    if (answer?.status === 400) throw new Error(answer.bytes.toString());
    await sleep(RETRY_MS);
  }
}

/** Kills the gateway and starts another; the leases of the dead one are ended before. */
async function killAndRestart(): Promise<void> {
  await sleep(Math.random() * MAX_LIFE_MS);
  await gateway.end('SIGKILL');
  await database.dataSource.query(`UPDATE task_work SET due_at = least(due_at, now())`);
  await database.dataSource.query(
    `UPDATE idempotency_key SET lease_until = now() WHERE task_id IS NULL`,
  );
  gateway = await startGatewayProgram(settings);
}

async function statuses(): Promise<ReadonlyMap<string, string>> {
  const rows = await database.dataSource.query<{ id: string; status: string }[]>(
    `SELECT id, status FROM task`,
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}

describe('a gateway that is killed again and again', () => {
  it(
    'submits no task twice, ends each, and its ledger says what the provider says',
    async () => {
      const { headers } = await gateway.account(CREDIT);
      const names: string[] = [];
      const submissions: Promise<string>[] = [];
      for (let life = 0; life <= KILLS; life += 1) {
        for (let count = 0; count < SUBMISSIONS_PER_LIFE; count += 1) {
          const name = `order ${names.length}`;
          names.push(name);
          submissions.push(submitted(name, headers));
        }
        if (life < KILLS) await killAndRestart();
      }
      const ids = await Promise.all(submissions);
      await until(async () =>
        [...(await statuses()).values()].every((status) => !/queued|processing/.test(status)),
      );

      // One task per name, however often the submission was repeated, and at most one job per task.
      const ended = await statuses();
      expect(ended.size).toBe(names.length);
      expect(new Set(ids).size).toBe(names.length);
      const jobs = await acceptedJobs();
      expect([...jobs].filter(([, count]) => count > 1)).toEqual([]);

      // An operator decides, from the provider's records, about the tasks that a kill has interrupted.
      for (const [index, id] of ids.entries()) {
        const hasJob = jobs.has(names[index]!);
        const status = ended.get(fromPublicId('task', id) ?? '');
        if (status === 'reconciliation_required') {
          const outcome = hasJob ? 'succeeded' : 'failed';
          const answer = await gateway.admin('POST', `/tasks/${id}/resolve`, { outcome });
          expect(answer.status).toBe(200);
        } else expect({ status, hasJob }).toEqual({ status: 'succeeded', hasJob: true });
      }

      const tasks = await Promise.all(
        ids.map(async (id) => (await send(`${gateway.url}/v1/tasks/${id}`, { headers })).json),
      );
      const paid = (tasks as { charged_microusd: string | null; reserved_microusd: string }[])
        .filter(({ charged_microusd: charge }) => charge !== null)
        .map(({ charged_microusd: charge }) => BigInt(charge ?? 0));
      expect(paid).toHaveLength(jobs.size);
      const price = paid[0] ?? 0n;
      expect(price).toBeGreaterThan(0n);
      const account = (await send(`${gateway.url}/v1/account`, { headers })).json;
      expect(account).toMatchObject({
        held_microusd: '0',
        available_microusd: String(CREDIT - price * BigInt(jobs.size)),
      });
      const holds = await database.dataSource.query(`SELECT id FROM hold WHERE state = 'open'`);
      expect(holds).toEqual([]);
      expect(await auditLedger(database.dataSource)).toMatchObject({ ok: true, discrepancies: [] });
    },
    TEST_TIMEOUT_MS,
  );
});
