import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { Clock } from '../../src/common/time/clock.js';
import { DAY_MS } from '../../src/common/time/spans.js';
import type { Task } from '../../src/tasks/task.js';
import { ADMIN_TOKEN, type TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 1_000_000n;
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
const WEBHOOK = { url: 'https://example.com/hook', secret: 'a-secret-of-16-letters' };
let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
  harness.provider.state = { status: 'running' };
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { error?: { code: string; param: string | null } };
}

async function call(path: string, headers: Record<string, string>, body?: object): Promise<Answer> {
  const response = await fetch(`${harness.gateway.url}${path}`, {
    method: 'POST',
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}
const cancel = (task: Pick<Task, 'id'>, who = account) =>
  call(`/v1/tasks/${toPublicId('task', task.id)}/cancel`, who.headers);
const resolve = (task: Pick<Task, 'id'>, body: object) =>
  call(`/admin/tasks/${toPublicId('task', task.id)}/resolve`, ADMIN, body);

async function unknown(): Promise<Task> {
  const task = await harness.submit(account, { plan: 'html', webhook: WEBHOOK });
  await harness.run();
  return task;
}
const bodies = async (task: Task) =>
  (
    await harness.gateway.dataSource.query<{ body: Buffer }[]>(
      `SELECT body FROM webhook_delivery WHERE owner_id = $1 ORDER BY id`,
      [task.id],
    )
  ).map(({ body }) => body.toString());

describe('POST /v1/tasks/{id}/cancel', () => {
  it('ends the task at the time of the database, whatever the clock of the process says (G-112)', async () => {
    const task = await harness.submit(account);
    const clock = harness.gateway.app.get(Clock);
    const nowMs = clock.nowMs.bind(clock);
    clock.nowMs = () => nowMs() + DAY_MS;
    await cancel(task).finally(() => (clock.nowMs = nowMs));
    const rows = await harness.gateway.dataSource.query<object[]>(
      `SELECT completed_at <= clock_timestamp() AS is_past FROM task WHERE id = $1`,
      [task.id],
    );
    expect(rows).toEqual([{ is_past: true }]);
  });

  it('ends a task that was not sent, releases its hold and sends its webhook (G-102)', async () => {
    const task = await harness.submit(account, { webhook: WEBHOOK, name: 'cancelled' });
    const { status, body } = await cancel(task);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', error: { code: 'task_cancelled' } });
    expect(await bodies(task)).toEqual([JSON.stringify(body)]);
    expect((await harness.gateway.balance(account.accountId)).available).toBe(CREDIT);
    await harness.run(2);
    expect(harness.provider.submissions.has('cancelled')).toBe(false);
    expect(await cancel(task)).toEqual({ status: 200, body });
    expect(await bodies(task)).toHaveLength(1);
  });

  it('is refused once the task was sent, or has ended otherwise (G-102)', async () => {
    const putOff = await harness.submit(account, { plan: 'busy' });
    const sent = await harness.submit(account);
    await harness.run();
    const ended = await unknown();
    for (const task of [putOff, sent, ended]) {
      const { status, body } = await cancel(task);
      expect({ status, code: body.error?.code }).toEqual({
        status: 409,
        code: 'task_not_cancellable',
      });
    }
  });

  it('answers 404 for an unknown and a foreign id', async () => {
    const task = await harness.submit(account);
    const other = await harness.gateway.account();
    for (const answer of [await cancel({ id: randomUUID() }), await cancel(task, other)]) {
      expect(answer.body.error).toMatchObject({ code: 'task_not_found', param: 'id' });
    }
    expect(await harness.read(task)).toMatchObject({ status: 'queued' });
  });

  it('and the worker never both have their way with a task', async () => {
    for (let round = 0; round < 20; round += 1) {
      const name = `race ${round}`;
      const task = await harness.submit(account, { name });
      const [answer] = await Promise.all([cancel(task), harness.step()]);
      const now = await harness.read(task);
      const wasSent = harness.provider.submissions.has(name);
      expect({ status: now.status, wasSent }).toEqual(
        answer.status === 200
          ? { status: 'failed', wasSent: false }
          : { status: 'processing', wasSent: true },
      );
    }
  });
});

describe('POST /admin/tasks/{id}/resolve', () => {
  it('settles what was held, shows the result, updates the end time and sends the webhook again (TASK-13)', async () => {
    const task = await unknown();
    const before = await harness.read(task);
    const { status, body } = await resolve(task, {
      outcome: 'succeeded',
      charged_microusd: '500',
      result: { urls: ['https://media.example/found'] },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'succeeded',
      charged_microusd: '500',
      reserved_microusd: JOB_PRICE.toString(),
      result: { urls: ['https://media.example/found'] },
      account_id: toPublicId('acct', account.accountId),
      provider_evidence: null,
    });
    expect((await harness.gateway.balance(account.accountId)).available).toBe(CREDIT - 500n);
    const [first, second] = await bodies(task);
    expect(JSON.parse(first ?? '')).toMatchObject({ status: 'reconciliation_required' });
    expect(second).toBe(await (await harness.get(account, task)).text());
    const now = await harness.read(task);
    expect(now.completedAt?.getTime()).toBeGreaterThan(before.completedAt?.getTime() ?? Infinity);
  });

  it('charges the whole hold by default', async () => {
    const task = await unknown();
    await resolve(task, { outcome: 'succeeded' });
    expect(await harness.read(task)).toMatchObject({ chargedMicroUsd: JOB_PRICE, result: {} });
  });

  it('releases what was held where the provider did not finish', async () => {
    const task = await unknown();
    const { body } = await resolve(task, { outcome: 'failed' });
    expect(body).toMatchObject({ status: 'failed', error: { code: 'provider_task_failed' } });
    expect((await harness.gateway.balance(account.accountId)).available).toBe(CREDIT);
  });

  it('is 409 the second time and for a task in another state, and 404 for no task', async () => {
    const task = await unknown();
    // Some of so many end the task in the same millisecond.
    const asked = Array.from({ length: 10 }, () => resolve(task, { outcome: 'failed' }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status).sort();
    expect(statuses).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
    const open = await harness.submit(account);
    expect(await resolve(open, { outcome: 'failed' })).toMatchObject({
      status: 409,
      body: { error: { code: 'conflict' } },
    });
    expect((await resolve({ id: randomUUID() }, { outcome: 'failed' })).status).toBe(404);
  });

  it.each([
    [{}, 'outcome'],
    [{ outcome: 'expired' }, 'outcome'],
    [{ outcome: 'succeeded', charged_microusd: '12501' }, 'charged_microusd'],
    [{ outcome: 'succeeded', charged_microusd: '-1' }, 'charged_microusd'],
    [{ outcome: 'succeeded', charged_microusd: '-0' }, 'charged_microusd'],
    [{ outcome: 'succeeded', charged_microusd: 1 }, 'charged_microusd'],
    [{ outcome: 'failed', charged_microusd: '1' }, 'charged_microusd'],
    [{ outcome: 'failed', result: {} }, 'result'],
    [{ outcome: 'succeeded', result: [] }, 'result'],
    [{ outcome: 'failed', note: 'x' }, 'note'],
  ])('refuses %j and names %s', async (body, param) => {
    const task = await unknown();
    expect(await resolve(task, body)).toMatchObject({
      status: 400,
      body: { error: { code: 'invalid_request', param } },
    });
    expect(await harness.read(task)).toMatchObject({ status: 'reconciliation_required' });
  });

  it('goes through however many polls for evidence run beside it', async () => {
    const task = await harness.submit(account);
    await harness.run();
    harness.provider.state = { status: '', broken: 'reset' };
    await harness.overdue(task);
    await harness.run();
    harness.provider.state = { status: 'running' };
    await harness.hurry();
    const [answer] = await Promise.all([resolve(task, { outcome: 'failed' }), harness.step()]);
    expect(answer.status).toBe(200);
    await harness.run(2);
    expect(await harness.read(task)).toMatchObject({ status: 'failed' });
    await harness.gateway.dataSource.query(`SELECT 1`);
  });
});
