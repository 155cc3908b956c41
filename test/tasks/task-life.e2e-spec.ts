import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../src/common/ids/public-id.js';
import type { Task } from '../../src/tasks/task.js';
import type { TaskView } from '../../src/tasks/task.view.js';
import type { TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';
import { DAY_MS } from '../../src/common/time/spans.js';

const CREDIT = 1_000_000n;
const FIELDS = [
  'id',
  'object',
  'status',
  'model',
  'modality',
  'progress',
  'result',
  'error',
  'reserved_microusd',
  'charged_microusd',
  'created_at',
  'completed_at',
];
let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
  harness.provider.state = {
    status: 'done',
    progress: 100,
    result: { url: 'https://m.example/a' },
  };
});

async function view(task: Task): Promise<TaskView> {
  return (await (await harness.get(account, task)).json()) as TaskView;
}

describe('the life of a task', () => {
  it('is queued with its price held, then processing, then succeeded and charged (TASK-16, TASK-17)', async () => {
    const task = await harness.submit(account);
    expect(await harness.read(task)).toEqual(task);
    expect(task).toMatchObject({ status: 'queued', progress: null, completedAt: null });
    expect(await harness.gateway.balance(account.accountId)).toMatchObject({ held: JOB_PRICE });
    harness.provider.state = { status: 'running', progress: 40 };
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'processing', progress: null });
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'processing', progress: 40 });
    harness.provider.state = { status: 'done', progress: 100, result: { url: 'x' } };
    await harness.run();
    expect(await harness.read(task)).toMatchObject({
      status: 'succeeded',
      progress: 100,
      result: { url: 'x' },
      chargedMicroUsd: JOB_PRICE,
    });
    const { available, held } = await harness.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: CREDIT - JOB_PRICE, held: 0n });
    await harness.gateway.expectCleanBooks();
  });

  it('shows the twelve fields in every state, null rather than absent (TASK-03, TASK-06, TASK-14, TASK-24, G-65)', async () => {
    const task = await harness.submit(account);
    const queued = await view(task);
    expect(Object.keys(queued)).toEqual(FIELDS);
    expect(queued).toMatchObject({
      id: toPublicId('task', task.id),
      object: 'task',
      status: 'queued',
      model: 'aud-dubbing-v1',
      modality: 'audio',
      progress: null,
      result: null,
      error: null,
      reserved_microusd: JOB_PRICE.toString(),
      charged_microusd: null,
      completed_at: null,
    });
    await harness.run(2);
    const ended = await view(task);
    expect(Object.keys(ended)).toEqual(FIELDS);
    expect(ended).toMatchObject({ status: 'succeeded', error: null });
    expect(ended.created_at).toBe(queued.created_at);
    expect(ended.completed_at).toBeGreaterThanOrEqual(queued.created_at);
  });

  it('never shows success without its result and charge (TASK-08, TASK-10, TASK-11, TASK-12)', async () => {
    const task = await harness.submit(account);
    await harness.run();
    await harness.hurry();
    const seen: TaskView[] = [];
    const ending = harness.step();
    do seen.push(await view(task));
    while (seen.at(-1)?.status !== 'succeeded');
    await ending;
    for (const { status, result, charged_microusd, reserved_microusd, created_at } of seen) {
      expect({ result: result !== null, charge: charged_microusd !== null }).toEqual(
        status === 'succeeded' ? { result: true, charge: true } : { result: false, charge: false },
      );
      expect(reserved_microusd).toBe(JOB_PRICE.toString());
      expect(created_at).toBe(seen[0]?.created_at);
    }
  });

  it('fails with a code, its hold released and nothing charged (TASK-09, TASK-18, TASK-19)', async () => {
    const task = await harness.submit(account);
    await harness.run();
    harness.provider.state = { status: 'failed' };
    await harness.run();
    expect(await view(task)).toMatchObject({
      status: 'failed',
      result: null,
      charged_microusd: null,
      error: { code: 'provider_task_failed', message: 'The job failed.' },
      completed_at: expect.any(Number),
    });
    const { available, held } = await harness.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: CREDIT, held: 0n });
  });

  it('stays as it ended, however often it is read (TASK-13, TASK-20, TASK-27)', async () => {
    const task = await harness.submit(account);
    await harness.run(2);
    const ended = await view(task);
    await harness.age(task, 30 * DAY_MS);
    await harness.run(2);
    expect(await view(task)).toEqual({ ...ended, created_at: expect.any(Number) });
  });

  it('passes through processing where the provider answers at once', async () => {
    const task = await harness.submit(account, { plan: 'done' });
    await harness.run();
    expect(await harness.read(task)).toMatchObject({
      status: 'succeeded',
      chargedMicroUsd: JOB_PRICE,
    });
  });

  it('keeps the result of a paid step and continues with the next', async () => {
    const task = await harness.submit(account, { plan: 'step', name: 'stepwise' });
    await harness.run(2);
    expect(await harness.read(task)).toMatchObject({
      status: 'processing',
      stepState: { steps: 2 },
    });
    harness.provider.plans.push('accept');
    await harness.run(2);
    expect(await harness.read(task)).toMatchObject({
      status: 'succeeded',
      stepState: { steps: 2 },
    });
    expect(harness.provider.submissions.get('stepwise')).toBe(3);
  });

  it('never lets progress fall and takes no more than 0 to 100 (TASK-07, G-64)', async () => {
    const task = await harness.submit(account);
    await harness.run();
    const shown: (number | null)[] = [];
    for (const progress of [-1, 50.7, 20, '90', 101]) {
      harness.provider.state = { status: 'running', progress };
      await harness.run();
      shown.push((await view(task)).progress);
    }
    expect(shown).toEqual([0, 50, 50, 50, 100]);
  });

  it('has no progress at the end where the provider reported none (TASK-07, G-64)', async () => {
    harness.provider.state = { status: 'done', result: { url: 'x' } };
    const task = await harness.submit(account);
    await harness.run(2);
    expect(await view(task)).toMatchObject({ status: 'succeeded', progress: null });
  });

  it('deletes the input that the provider got', async () => {
    const task = await harness.submit(account, { name: 'a secret prompt' });
    const stored = () =>
      harness.gateway.dataSource.query<{ sealed_input: string | null }[]>(
        `SELECT sealed_input FROM task WHERE id = $1`,
        [task.id],
      );
    const [before] = await stored();
    expect(before?.sealed_input).toMatch(/^v1\./);
    expect(before?.sealed_input).not.toContain('secret');
    await harness.run(2);
    expect(await stored()).toEqual([{ sealed_input: null }]);
  });

  it('answers the same 404 for unknown, malformed and foreign ids (TASK-25, CONTENT-09, G-52)', async () => {
    const task = await harness.submit(account);
    const other = await harness.gateway.account();
    const ids = [toPublicId('task', task.id), toPublicId('task', randomUUID()), 'task_1', 'x'];
    for (const suffix of ['', '/content']) {
      const bodies = await Promise.all(
        ids.map(async (id) => {
          const url = `${harness.gateway.url}/v1/tasks/${id}${suffix}`;
          const response = await fetch(url, { headers: other.headers });
          return { status: response.status, body: await response.text() };
        }),
      );
      expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
      expect(bodies[0]?.status).toBe(404);
      expect(JSON.parse(bodies[0]?.body ?? '')).toMatchObject({
        error: { code: 'task_not_found', param: 'id', type: 'invalid_request_error' },
      });
    }
  });
});
