import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import type { Task } from '../../src/tasks/task.js';
import { LEASE_MS } from '../../src/tasks/task-lane.js';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.js';
import type { TestAccount } from '../support/gateway.js';
import {
  JOB_PRICE,
  startBeside,
  startTaskHarness,
  type TaskHarness,
} from '../support/task-harness.js';

/**
 * A longer outage than a lease can be tested by hand: OUTAGE_MS=35000. Then a submission that one gateway has under way may
 * be taken over by the other, and its outcome is unknown.
 */
const OUTAGE_MS = Number(process.env.OUTAGE_MS ?? 3_000);
const TEST_TIMEOUT_MS = 4 * OUTAGE_MS + 120_000;
const CREDIT = 10_000_000n;
const PER_PHASE = 10;
const BRISK = { TASK_TICK_MS: '50', TASK_POLL_INTERVAL_MS: '50' };

let proxy: DatabaseProxy;
let harness: TaskHarness;
let beside: TaskHarness;
let account: TestAccount;
let asked: Map<string, Task>;

beforeAll(async () => {
  proxy = await startDatabaseProxy(process.env.TEST_SERVER_URL ?? '');
  harness = await startTaskHarness((databaseUrl) => ({
    DATABASE_URL: proxy.through(databaseUrl),
    ...BRISK,
  }));
  beside = await startBeside(harness, BRISK);
  account = await harness.gateway.account(CREDIT);
  asked = new Map();
});
afterAll(async () => {
  await beside.stop();
  await harness.stop();
  await proxy.stop();
});

async function order(phase: string, kind: 'job' | 'file-job' = 'job'): Promise<Task[]> {
  const names = Array.from({ length: PER_PHASE }, (_, index) => `${phase} ${index}`);
  return Promise.all(
    names.map(async (name, index) => {
      const taker = index % 2 === 0 ? harness : beside;
      const task = await taker.submit(account, { name, kind });
      asked.set(name, task);
      return task;
    }),
  );
}

function setFailures(count: number): void {
  for (const { files } of [harness, beside]) files.failures = count;
}

const phases = (tasks: readonly Task[]) =>
  harness.gateway.dataSource.query<{ phase: string; status: string; hasJob: boolean }[]>(
    `SELECT w.phase, t.status, t.provider_job_id IS NOT NULL AS "hasJob" FROM task t LEFT JOIN task_work w ON w.task_id = t.id WHERE t.id = ANY ($1)`,
    [tasks.map(({ id }) => id)],
  );

/** As {@link TaskHarness.hurry}, but ends no lease of a submission: that of the other gateway would be taken for dead. */
async function hurry(): Promise<void> {
  await harness.gateway.dataSource.query(
    `UPDATE task_work SET due_at = now() WHERE due_at > now() AND phase <> 'submitting'`,
  );
}

async function until(tasks: readonly Task[], wanted: object): Promise<void> {
  for (;;) {
    const rows = await phases(tasks);
    if (
      rows.every((row) =>
        Object.entries(wanted).every(([key, value]) => Reflect.get(row, key) === value),
      )
    )
      return;
    await sleep(20);
  }
}

describe('a database that is gone while tasks of two gateways are in every phase', () => {
  it(
    'keeps each task: none is sent twice, paid twice, lost or stuck',
    async () => {
      harness.provider.state = { status: 'done', result: { url: 'x' } };
      setFailures(Number.MAX_SAFE_INTEGER);
      const collecting = await order('collecting', 'file-job');
      await until(collecting, { phase: 'collecting' });
      harness.provider.state = { status: 'running', progress: 10 };
      const polling = await order('polling');
      const watching = await order('watching');
      await until([...polling, ...watching], { phase: 'polling' });
      for (const task of watching) await harness.overdue(task);
      await until(watching, { phase: 'watching', status: 'expired' });
      // Sooner than the kind gives up on an answer, later than the cut.
      harness.provider.delayMs = Math.min(OUTAGE_MS / 2, 1_500);
      const submitting = await order('submitting');
      await until(submitting, { phase: 'submitting' });
      const waiting = await order('waiting');
      await proxy.cut();
      await sleep(OUTAGE_MS);
      harness.provider.delayMs = 0;
      harness.provider.state = { status: 'done', result: { url: 'x' } };
      setFailures(0);
      await proxy.mend();

      const paid = [...collecting, ...polling, ...submitting, ...waiting];
      while ((await phases(paid)).some(({ status }) => /queued|processing/.test(status))) {
        await hurry();
        await sleep(100);
      }
      const unknown = (await phases(submitting)).filter(({ status }) => status !== 'succeeded');
      if (OUTAGE_MS < LEASE_MS) expect(unknown).toEqual([]);
      // Where it was taken over, the one that got the answer adds the job for the operator.
      await until(submitting, { hasJob: true });
      const known = paid.filter((task) => !submitting.includes(task));
      await until(known, { status: 'succeeded' });
      for (const name of asked.keys()) {
        expect([name, harness.provider.submissions.get(name)]).toEqual([name, 1]);
        expect(harness.provider.jobsOf(name)).toBe(1);
      }
      await until(watching, { status: 'expired' });
      const { available, held, entries } = await harness.gateway.balance(account.accountId);
      const kept = BigInt(paid.length) * JOB_PRICE;
      const stillHeld = BigInt(unknown.length) * JOB_PRICE;
      expect({ available, held }).toEqual({ available: CREDIT - kept, held: stillHeld });
      expect(entries).toBe(1 + paid.length - unknown.length);
      expect((await auditLedger(harness.gateway.dataSource)).ok).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );
});
