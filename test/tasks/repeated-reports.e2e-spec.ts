import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { LEASE_MS, laneOf } from '../../src/tasks/task-lane.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 10_000_000n;

let harness: TaskHarness;
beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());

it('a report whose answer was lost is repeated and counts once', async () => {
  const account = await harness.gateway.account(CREDIT);
  const { id: taskId, accountId, provider } = await harness.submit(account);
  const statements = harness.gateway.app.get(TaskWorkRepository);
  const nothing = { available: new Map<string, number>(), inUse: [], runningIds: [] };
  const counts = async () => {
    const rows = await harness.gateway.dataSource.query<{ put_offs: number; submits: number }[]>(
      'SELECT put_offs, submits FROM task_work WHERE task_id = $1',
      [taskId],
    );
    return [rows[0]?.put_offs, rows[0]?.submits];
  };
  for (const round of [1, 2]) {
    await harness.hurry();
    const [work] = await statements.claim({ ...nothing, leaseMs: LEASE_MS });
    expect(work?.deferrals).toBe(round - 1);
    const report = { accountId, taskId, fence: work?.fence ?? '', delayMs: 1_000 };
    const lane = laneOf('waiting', { provider, kind: 'job' });
    const facts = { put_off: (work?.deferrals ?? 0) + 1 };
    const sent = { ...report, phase: 'submitting' } as const;
    const putOff = { ...report, phase: 'waiting', lane, facts } as const;
    for (const advance of [sent, sent, putOff, putOff]) {
      expect(await statements.advance([advance])).toEqual(new Set([taskId]));
    }
    expect(await counts()).toEqual([round, round]);
  }
});
