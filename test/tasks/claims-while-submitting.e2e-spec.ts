import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LEASE_MS } from '../../src/tasks/task-lane.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const SUBMITTERS = 8;
const TASKS_EACH = 150;

let harness: TaskHarness;
beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());

describe('claims while tasks are submitted', () => {
  it('return every task that they lease', async () => {
    const account = await harness.gateway.account(1_000_000_000n);
    const statements = harness.gateway.app.get(TaskWorkRepository);
    const claimed = new Set<string>();
    let isSubmitting = true;
    const claimers = Array.from({ length: 4 }, async () => {
      while (isSubmitting) {
        const works = await statements.claim({
          available: new Map(),
          inUse: [],
          runningIds: [],
          leaseMs: LEASE_MS,
        });
        for (const { task } of works) claimed.add(task.id);
      }
    });
    const submitters = Array.from({ length: SUBMITTERS }, async () => {
      for (let turn = 0; turn < TASKS_EACH; turn += 1) await harness.submit(account);
    });
    await Promise.all(submitters);
    isSubmitting = false;
    await Promise.all(claimers);
    const leased = await harness.gateway.dataSource.query<{ task_id: string }[]>(
      'SELECT task_id FROM task_work WHERE fence > 0',
    );
    expect(leased.filter(({ task_id }) => !claimed.has(task_id))).toEqual([]);
    expect(claimed.size).toBe(leased.length);
  });
});
