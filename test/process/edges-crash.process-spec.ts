import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditLedger } from '../../src/billing/audit/audit.js';
import { EdgeHarness, type EdgeTask } from '../support/edge-harness.js';
import { cleanUp, PROCESS_TEST_TIMEOUT_MS } from '../support/process.js';
import { until } from '../support/until.js';
import { TASK_EDGES, TASK_EDGES_IN_TURN, type TaskEdge } from './task-edges.js';

/** Every edge of every kind, with `npm run test:crash -- tasks`. */
const EDGES = process.env.EDGES === 'all' ? TASK_EDGES : TASK_EDGES_IN_TURN;
const CREDIT = 1_000_000_000n;
const OPEN = ['queued', 'processing'];

let harness: EdgeHarness;
/** Charges of the tasks so far, by what the provider did. */
let owed = 0n;
const named: string[] = [];

beforeAll(async () => {
  harness = await EdgeHarness.open(CREDIT);
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await harness.stop();
}, PROCESS_TEST_TIMEOUT_MS);

/** Waits until nothing is left to be done for the task. */
async function ended(id: string): Promise<EdgeTask> {
  await until(async () => !OPEN.includes((await harness.task(id)).status));
  await until(async () => {
    const left = `SELECT FROM webhook_delivery WHERE status = 'pending'`;
    return (await harness.query(left)).length === 0;
  });
  return harness.task(id);
}

/** An operator decides about a task whose outcome is unknown, from the provider's records. */
async function resolved(id: string, hasJob: boolean): Promise<EdgeTask> {
  const outcome = hasJob ? 'succeeded' : 'failed';
  const told = harness.receiver.received.length;
  const { status } = await harness.gateway.admin('POST', `/tasks/${id}/resolve`, { outcome });
  expect(status).toBe(200);
  const task = await ended(id);
  expect(harness.receiver.received.length - told).toBe(1);
  return task;
}

async function afterKillAt(edge: TaskEdge): Promise<void> {
  const { orders } = harness.upstreams;
  // After a failure of the test before.
  if (harness.gateway.child.signalCode !== null) await harness.restart();
  const before = { orders: orders.length, told: harness.receiver.received.length };
  const killed = harness.killedAt(edge);
  const submission = harness.submitted(edge.kind, `${edge.kind} ${edge.name}`);
  await killed;
  await harness.restart();
  const id = await submission;
  let task = await ended(id);
  const seen = {
    status: task.status === 'reconciliation_required' ? 'unknown' : task.status,
    orders: orders.length - before.orders,
  };
  expect(seen).toEqual({ status: edge.outcome, orders: edge.orders });
  const told = harness.receiver.received.length - before.told;
  expect(edge.told === undefined ? [1, 2] : [edge.told]).toContain(told);

  const hasJob = orders.slice(before.orders).some((path) => !path.endsWith('/upload'));
  if (edge.outcome === 'unknown') task = await resolved(id, hasJob);
  const price = hasJob ? task.reserved : null;
  expect({ id, charged: task.charged }).toEqual({ id, charged: price });
  owed += BigInt(price ?? 0);
  if (edge.outcome === 'succeeded' && edge.kind !== 'song') await keepsItsFile(id, edge.kind);
}

async function keepsItsFile(id: string, kind: 'dub' | 'video'): Promise<void> {
  const { dub, video } = harness.upstreams;
  const content = await harness.content(kind, id);
  expect(content.bytes.equals(kind === 'dub' ? dub : video)).toBe(true);
  named.push(id);
}

describe('a gateway that is killed at an edge of a task', () => {
  it.each(EDGES.map((edge) => [edge.kind, edge.name, edge] as const))(
    '%s, %s: submits once, is paid once, tells its end',
    async (_kind, _name, edge) => {
      await afterKillAt(edge);
    },
    PROCESS_TEST_TIMEOUT_MS,
  );

  it(
    'has books that are equal to what the provider did, and no work, hold or file that nobody needs',
    async () => {
      const { headers } = harness.account;
      expect(await harness.query(`SELECT FROM task`)).toHaveLength(EDGES.length);
      expect(await harness.query(`SELECT FROM hold WHERE state = 'open'`)).toEqual([]);
      const stuck = `SELECT FROM task_work WHERE phase <> 'watching'`;
      expect(await harness.query(stuck)).toEqual([]);
      const account = await fetch(`${harness.gateway.url}/v1/account`, { headers });
      expect(await account.json()).toMatchObject({
        held_microusd: '0',
        available_microusd: String(CREDIT - owed),
      });
      const audit = await auditLedger(harness.database.dataSource);
      expect(audit).toMatchObject({ ok: true, discrepancies: [] });
      const files = await harness.query<{ id: string }>(
        `SELECT content ->> 'fileId' AS id FROM task WHERE content IS NOT NULL`,
      );
      expect(files).toHaveLength(named.length);
      expect((await harness.filesLeft()).sort()).toEqual(files.map(({ id }) => id).sort());
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
