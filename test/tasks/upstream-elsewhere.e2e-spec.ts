import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../src/platform/config/gateway-config.js';
import type { Task } from '../../src/tasks/task.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 1_000_000n;
let harness: TaskHarness;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());

/** As if the gateway at this sandbox had submitted the task. */
const moveTo = (baseUrl: string, { id }: Task, onSandbox = true) =>
  harness.gateway.dataSource.query(
    `UPDATE task SET provider_base_url = $2, on_sandbox = $3 WHERE id = $1`,
    [id, baseUrl, onSandbox],
  );

describe('a task whose job is at another upstream', () => {
  it('is left to that gateway at the usual pace of polls', async () => {
    const account = await harness.gateway.account(CREDIT);
    harness.provider.state = { status: 'running', progress: 10 };
    const task = await harness.submit(account);
    await harness.run();
    await moveTo('http://elsewhere.example', task);
    await harness.run();
    const [work] = await harness.gateway.dataSource.query<{ wait_ms: number }[]>(
      `SELECT extract(epoch FROM due_at - now())::float8 * 1000 AS wait_ms FROM task_work WHERE task_id = $1`,
      [task.id],
    );
    const { taskPollIntervalMs } = harness.gateway.app.get<GatewayConfig>(GATEWAY_CONFIG);
    expect(work!.wait_ms).toBeLessThan(3 * taskPollIntervalMs);
  });

  it.each([
    ['the sandbox of another gateway', true],
    ['a provider that is no longer there', false],
  ])('has its file fetched nowhere else, where it is in %s', async (_where, onSandbox) => {
    const account = await harness.gateway.account(CREDIT);
    harness.provider.state = {
      status: 'done',
      progress: 100,
      result: { url: 'https://m.example/a' },
    };
    harness.files.failures = 0;
    const task = await harness.submit(account, { kind: 'file-job' });
    await harness.run(2);
    const { providerBaseUrl } = await harness.read(task);
    await moveTo('http://elsewhere.example', task, onSandbox);
    await harness.run(6);
    expect(await harness.read(task)).toMatchObject({ status: 'processing', result: null });
    await moveTo(providerBaseUrl, task, onSandbox);
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'succeeded' });
  });
});
