import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { RowLoader } from '../../src/platform/database/batching/row-loader.js';
import { LEASE_MS } from '../../src/tasks/task-lane.js';
import { TaskRepository } from '../../src/tasks/reads/task.repository.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import { DeliveryStatements } from '../../src/webhooks/delivery-statements.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { dataSourceWithPlans } from '../support/explain-plans.js';

const FINISHED = 40_000;
const OPEN = 5_000;
const ACCOUNTS = 100;
const TABLES = 'task|task_work|webhook_delivery|webhook_attempt|stored_file|idempotency_key';

let database: TestDatabase;
let dataSource: DataSource;
/** Nodes of the plans told, by the text of their statement. */
const told = new Map<string, Set<string>>();

function hear(statement: string, plan: string): void {
  if (!new RegExp(`\\b(${TABLES})\\b`).test(plan)) return;
  const nodes = plan.split('\n').filter((line) => line.includes('(cost='));
  const shape = nodes.map((line) => line.replace(/ +\(cost=.*/, '')).join('\n');
  told.set(statement, (told.get(statement) ?? new Set()).add(shape));
}

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = await dataSourceWithPlans(database.url, hear);
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

const account = (n: string) => `lpad(to_hex(${n} % ${ACCOUNTS}), 32, '0')::uuid`;
const id = (n: string) => `('018bcfe5' || lpad(to_hex(${n}), 24, '0'))::uuid`;

/** Tasks and deliveries from one number to the next, the latter all due or all over. */
async function fill(from: number, to: number, isOpen: boolean): Promise<void> {
  const series = `generate_series(${from}, ${to}) n`;
  const state = isOpen
    ? `'processing', NULL, NULL, NULL`
    : `'succeeded', '{"urls":[]}', 12500, now()`;
  await database.dataSource.query(
    `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                       upstream_model, reserved, status, result, charged, completed_at)
     SELECT ${account('n')}, ${id('n')}, 'job', 'audio', 'aud-dubbing-v1', '{}', 'elevenlabs', 'http://x', false,
            'dubbing_v1', 12500, ${state} FROM ${series}`,
  );
  await database.dataSource.query(
    `INSERT INTO webhook_delivery (account_id, id, owner_id, url, origin, body, status, due_at, created_at)
     SELECT ${account('n')}, ${id('n')}, ${id('n')}, 'http://h' || n % 50 || '/x', 'http://h' || n % 50, '{}',
            ${isOpen ? `'pending', now()` : `'delivered', NULL`}, now() FROM ${series}`,
  );
  await database.dataSource.query(
    `INSERT INTO stored_file (account_id, id, owner_id, content_type, state, size_bytes, created_at, expires_at)
     SELECT ${account('n')}, ${id('n')}, ${id('n')}, 'video/mp4', 'stored', 1, now(), now() FROM ${series}`,
  );
  if (!isOpen) return;
  await database.dataSource.query(
    `INSERT INTO task_work (account_id, task_id, lane, phase)
     SELECT ${account('n')}, ${id('n')}, 'poll/elevenlabs', 'polling' FROM ${series}`,
  );
}

/** Runs what workers and readers run, and tells the plan of each statement. */
async function plans(): Promise<ReadonlyMap<string, readonly string[]>> {
  told.clear();
  const tasks = new TaskWorkRepository(dataSource);
  const reader = new TaskRepository(dataSource);
  const rooms = new Map<string, number>();
  const [work] = await tasks.claim({
    available: rooms,
    inUse: [],
    runningIds: [],
    leaseMs: LEASE_MS,
  });
  if (!work) throw new Error('something is due');
  const { accountId, id: taskId } = work.task;
  const facts = { progress: 5 };
  await tasks.advance([{ accountId, taskId, fence: work.fence, delayMs: 0, facts }]);
  await tasks.unwatch({ ...work, fence: '-1' });
  await reader.find(taskId, accountId);
  await new RowLoader(dataSource, 'stored_file').find(accountId, taskId);
  const page = { limit: 10, cursor: undefined };
  await reader.list({ accountId }, page);
  await reader.list({ accountId, status: 'processing' }, page);
  await reader.list({ status: 'reconciliation_required' }, page);
  await reader.list({ accountId, clientRequestId: 'none' }, page);
  const deliveries = new DeliveryStatements(dataSource);
  const limits = { total: 10, perOrigin: 4, perAccount: 4 };
  const claimed = await deliveries.claim(60_000, { ...limits, origins: rooms, accounts: rooms });
  const attempt = { startedAt: new Date(), statusCode: 500, error: null, durationMs: 1 };
  const next = { status: 'pending', retry: 1, waitMs: 0 } as const;
  await Promise.all(claimed.map((delivery) => deliveries.record({ delivery, attempt, next })));
  return new Map([...told].map(([text, shapes]) => [text, [...shapes].sort()]));
}

/**
 * How each statement reads and writes the tables, whichever of two indexes that begin alike it takes and however it joins the
 * few rows it has then.
 */
function ways(seen: ReadonlyMap<string, readonly string[]>): Record<string, readonly string[]> {
  const ofTable = new RegExp(
    `\\b(Scan|Scan Backward|Update|Insert|Delete)( using \\w+)? on (${TABLES})\\b`,
  );
  const way = (shape: string): string[] =>
    shape
      .split('\n')
      .filter((node) => ofTable.test(node))
      .map((node) => node.replace(/^[ >-]*/, '').replace(/ using \w+ on /, ' on '))
      .sort();
  return Object.fromEntries([...seen].map(([text, shapes]) => [text, shapes.flatMap(way)]));
}

describe('the statements of tasks and webhooks', () => {
  it('are planned alike over a full and an almost empty table, always by index', async () => {
    await fill(1, 1, true);
    const few = await plans();
    for (let from = 2; from < FINISHED; from += 5_000) await fill(from, from + 4_999, false);
    await fill(2 * FINISHED, 2 * FINISHED + OPEN, true);
    await database.dataSource.query('ANALYZE');
    await dataSource.query('DISCARD PLANS');
    const many = await plans();
    expect(ways(many)).toEqual(ways(few));
    const texts = [...many.keys()];
    for (const text of ['FROM task_work', 'UPDATE task_work', 'webhook_delivery', 'stored_file']) {
      expect([text, texts.some((statement) => statement.includes(text))]).toEqual([text, true]);
    }
    for (const shape of [...few.values(), ...many.values()].flat()) {
      expect(shape).not.toMatch(new RegExp(`Seq Scan on (${TABLES})\\b`));
    }
    // A row is found by its id, not among all those of its account.
    for (const [text, shapes] of many) {
      if (!/AND id = \w+\.(task_)?id/.test(text)) continue;
      for (const shape of shapes) expect(shape).toMatch(/Index Scan using \w+_(pkey|by_id) on/);
    }
  });
});
