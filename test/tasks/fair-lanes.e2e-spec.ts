import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LANE_CONCURRENCY } from '../../src/tasks/task-lane.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const PATIENCE_MS = 30_000;

let harness: TaskHarness;
beforeAll(async () => {
  harness = await startTaskHarness(() => ({ TASK_TICK_MS: '50' }));
});
afterAll(() => harness.stop());

async function until(fact: () => boolean): Promise<void> {
  for (let waitedMs = 0; !fact() && waitedMs < PATIENCE_MS; waitedMs += 20) await sleep(20);
  expect(fact()).toBe(true);
}

describe('an account with more slow tasks than the lane of their provider has capacity', () => {
  it('delays no task of another account', async () => {
    const [greedy, other] = [await harness.gateway.account(), await harness.gateway.account()];
    const { submissions } = harness.provider;
    const gate = new EventTarget();
    harness.provider.held = new Promise((resolve) => {
      gate.addEventListener('open', resolve, { once: true });
    });
    const tasks = Array.from({ length: 3 * LANE_CONCURRENCY.submit }, () => harness.submit(greedy));
    await Promise.all(tasks);
    await until(() => submissions.size >= LANE_CONCURRENCY.submit / 2);
    await harness.submit(other, { name: 'of another account' });
    await until(() => submissions.has('of another account'));
    expect(submissions.size).toBeLessThan(tasks.length);
    gate.dispatchEvent(new Event('open'));
    await until(() => submissions.size === tasks.length + 1);
  });
});
