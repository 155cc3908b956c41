import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GATEWAY_CONFIG, type GatewayConfig } from '../../src/platform/config/gateway-config.js';
import type { Task } from '../../src/tasks/task.js';
import { startTaskDesk, type TaskDesk } from '../support/task-desk.js';

const CREDIT = 1_000_000n;
let desk: TaskDesk;

beforeAll(async () => {
  desk = await startTaskDesk();
});
afterAll(() => desk.stop());

/** As if the gateway at this sandbox had submitted the task. */
const moveTo = (baseUrl: string, { id }: Task) =>
  desk.gateway.dataSource.query(
    `UPDATE task SET provider_base_url = $2, on_sandbox = true WHERE id = $1`,
    [id, baseUrl],
  );

describe('a task whose job is in the sandbox of another gateway', () => {
  it('is left to that gateway at the usual pace of polls', async () => {
    const account = await desk.gateway.account(CREDIT);
    desk.provider.state = { status: 'running', progress: 10 };
    const task = await desk.submit(account);
    await desk.run();
    await moveTo('http://elsewhere.example', task);
    await desk.run();
    const [work] = await desk.gateway.dataSource.query<{ wait_ms: number }[]>(
      `SELECT extract(epoch FROM due_at - now())::float8 * 1000 AS wait_ms FROM task_work WHERE task_id = $1`,
      [task.id],
    );
    const { taskPollIntervalMs } = desk.gateway.app.get<GatewayConfig>(GATEWAY_CONFIG);
    expect(work!.wait_ms).toBeLessThan(3 * taskPollIntervalMs);
  });

  it('has its file fetched by that gateway only', async () => {
    const account = await desk.gateway.account(CREDIT);
    desk.provider.state = { status: 'done', progress: 100, result: { url: 'https://m.example/a' } };
    desk.files.failures = 0;
    const task = await desk.submit(account, { kind: 'file-job' });
    await desk.run(2);
    const { providerBaseUrl } = await desk.read(task);
    await moveTo('http://elsewhere.example', task);
    await desk.run(6);
    expect(await desk.read(task)).toMatchObject({ status: 'processing', result: null });
    await moveTo(providerBaseUrl, task);
    await desk.run();
    expect(await desk.read(task)).toMatchObject({ status: 'succeeded' });
  });
});
