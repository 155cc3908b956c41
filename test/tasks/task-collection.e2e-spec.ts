import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LedgerAudit } from '../../src/billing/audit/ledger-audit.js';
import { toPublicId } from '../../src/common/ids/public-id.js';
import { DAY_MS } from '../../src/common/time/spans.js';
import type { Task } from '../../src/tasks/task.js';
import { UsageRollup } from '../../src/billing/usage/usage-rollup.js';
import { ADMIN_TOKEN, type TestAccount } from '../support/gateway.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';

const CREDIT = 1_000_000n;
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
const WEBHOOK = { url: 'https://example.com/hook', secret: 'a-secret-of-16-letters' };
const DONE = { status: 'done', progress: 100, result: { url: 'https://media.example/late' } };

let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
  harness.files.failures = 0;
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown> & { error?: { code: string; message: string } };
}

async function admin(task: Task, action: string, body: object): Promise<Answer> {
  const id = toPublicId('task', task.id);
  const response = await fetch(`${harness.gateway.url}/admin/tasks/${id}/${action}`, {
    method: 'POST',
    headers: ADMIN,
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}
const collect = (task: Task, fields: object = {}) =>
  admin(task, 'resolve', { outcome: 'collect', ...fields });
const shown = async (task: Task) => {
  const id = toPublicId('task', task.id);
  const answer = await fetch(`${harness.gateway.url}/admin/tasks/${id}`, { headers: ADMIN });
  return (await answer.json()) as Record<string, unknown>;
};
const query = <T>(sql: string, values: unknown[]) =>
  harness.gateway.dataSource.query<T[]>(sql, values);
const bodies = async (task: Task) =>
  (
    await query<{ body: Buffer }>(
      `SELECT body FROM webhook_delivery WHERE owner_id = $1 ORDER BY id`,
      [task.id],
    )
  ).map(({ body }) => JSON.parse(body.toString()) as Record<string, unknown>);
const filesOf = async (task: Task) =>
  (await query<object>(`SELECT id FROM stored_file WHERE owner_id = $1`, [task.id])).length;
const balance = () => harness.gateway.balance(account.accountId);

/** A task that has ended so, whose job the provider finishes afterwards. */
async function endedAs(
  status: 'failed' | 'expired' | 'reconciliation_required',
  kind: 'job' | 'file-job' = 'file-job',
): Promise<Task> {
  harness.provider.state = { status: 'running' };
  const task = await harness.submit(account, { kind, webhook: WEBHOOK });
  await harness.run();
  if (status === 'failed') harness.provider.state = { status: 'failed' };
  if (status === 'reconciliation_required') harness.provider.state = { status: '', broken: '500' };
  if (status !== 'failed') await harness.overdue(task);
  await harness.run();
  // Usage has summed up yesterday, so the task is as old again as it is.
  if (status !== 'failed') await harness.age(task, -DAY_MS);
  const ended = await harness.read(task);
  expect(ended.status).toBe(status);
  harness.provider.state = DONE;
  // The operator comes before the next poll, which would decide it.
  if (status === 'reconciliation_required') return ended;
  await harness.run();
  expect(await shown(task)).toMatchObject({ provider_evidence: { status: 'succeeded' } });
  return ended;
}

async function booksAreRight(): Promise<void> {
  await harness.gateway.app.get(UsageRollup).tick(0);
  expect((await harness.gateway.app.get(LedgerAudit).run('full')).discrepancies).toEqual([]);
}
async function usage(): Promise<{ calls: number; failures: number; charged: string }> {
  const [row] = await query<{ calls: number; failures: number; charged: string }>(
    `SELECT coalesce(sum(calls), 0)::int AS calls, coalesce(sum(failures), 0)::int AS failures,
            coalesce(sum(charged), 0)::text AS charged
       FROM (SELECT calls, failures, charged FROM usage_day WHERE account_id = $1
             UNION ALL SELECT calls, failures, charged FROM usage_recent($1)) u`,
    [account.accountId],
  );
  if (!row) throw new Error('a sum is a row');
  return row;
}

describe('collecting a finished job', () => {
  it('settles an unknown task from its hold, stores its file and sends the webhook again', async () => {
    const task = await endedAs('reconciliation_required');
    expect((await balance()).held).toBe(JOB_PRICE);
    const { status, body } = await collect(task);
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        status: 'succeeded',
        charged_microusd: String(JOB_PRICE),
        result: { content_type: 'audio/mpeg' },
      },
    });
    expect(await balance()).toMatchObject({ available: CREDIT - JOB_PRICE, held: 0n });
    const told = await bodies(task);
    expect(told.map((sent) => sent.status)).toEqual(['reconciliation_required', 'succeeded']);
    const content = await fetch(
      `${harness.gateway.url}/v1/tasks/${toPublicId('task', task.id)}/content`,
      { headers: account.headers },
    );
    expect(await content.text()).toBe('dub');
    await booksAreRight();
  });

  it.each(['failed', 'expired'] as const)(
    'delivers what a task that had %s made, with a second webhook and without a charge',
    async (state) => {
      const task = await endedAs(state);
      await booksAreRight();
      const { status, body } = await collect(task);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: 'succeeded', charged_microusd: '0', error: null });
      const get = (await (await harness.get(account, task)).json()) as Record<string, unknown>;
      expect((await bodies(task)).at(-1)).toEqual(get);
      expect(get).toMatchObject({ status: 'succeeded', result: { content_type: 'audio/mpeg' } });
      expect(Number(get.completed_at)).toBeGreaterThanOrEqual(Number(get.created_at));
      expect(await balance()).toMatchObject({ available: CREDIT, held: 0n });
      expect(await usage()).toEqual({ calls: 1, failures: 1, charged: '0' });
      await booksAreRight();
      expect((await collect(task)).body.error).toMatchObject({ code: 'conflict' });
    },
  );

  it.each([
    ['before it is summed up', false],
    ['after it was summed up', true],
  ])('charges a failed task what the operator names, %s', async (_name, isFolded) => {
    const task = await endedAs('failed', 'job');
    if (isFolded) await booksAreRight();
    const { status, body } = await collect(task, { charged_microusd: '500' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'succeeded', charged_microusd: '500' });
    expect(await balance()).toMatchObject({ available: CREDIT - 500n, held: 0n });
    expect(await usage()).toMatchObject({ charged: '500' });
    await booksAreRight();
    expect(await usage()).toEqual({ calls: 1, failures: 1, charged: '500' });
    expect((await admin(task, 'refund', {})).status).toBe(201);
    expect(await balance()).toMatchObject({ available: CREDIT, held: 0n });
    await booksAreRight();
  });

  it('is refused, and changes nothing, where the charge does not fit', async () => {
    const task = await endedAs('expired');
    const before = await shown(task);
    const above = await collect(task, { charged_microusd: String(JOB_PRICE + 1n) });
    expect(above).toMatchObject({ status: 400, body: { error: { param: 'charged_microusd' } } });
    await query(`UPDATE account SET posted = 499 WHERE id = $1 RETURNING id`, [account.accountId]);
    const poor = await collect(task, { charged_microusd: '500' });
    await query(`UPDATE account SET posted = $2 WHERE id = $1 RETURNING id`, [
      account.accountId,
      String(CREDIT),
    ]);
    expect(poor.status).toBe(409);
    expect(poor.body.error?.message).toMatch(/balance/);
    expect(await shown(task)).toEqual(before);
    expect(await filesOf(task)).toBe(0);
    expect(await bodies(task)).toHaveLength(1);
    await booksAreRight();
  });

  it('changes nothing where the file cannot be fetched', async () => {
    const task = await endedAs('reconciliation_required');
    const before = await shown(task);
    harness.files.failures = 1;
    const { status, body } = await collect(task);
    expect({ status, code: body.error?.code }).toEqual({ status: 409, code: 'conflict' });
    expect(body.error?.message).toMatch(/the disk is full.*Nothing has changed/);
    expect(await shown(task)).toEqual(before);
    expect((await balance()).held).toBe(JOB_PRICE);
    expect((await collect(task)).status).toBe(200);
  });

  it('is refused while the provider says something else, and for a task that has not ended so', async () => {
    const task = await endedAs('failed');
    harness.provider.state = { status: 'running' };
    expect((await collect(task)).body.error?.message).toMatch(/pending/);
    harness.provider.state = DONE;
    const open = await harness.submit(account);
    expect((await collect(open)).body.error?.message).toMatch(
      /queued: there is nothing to collect/,
    );
    const unsent = await harness.submit(account, { plan: 'html' });
    await harness.run();
    expect((await collect(unsent)).body.error?.message).toMatch(/job of the task is not known/);
    expect((await collect(task, { result: {} })).status).toBe(400);
  });

  it('of one task by two operators at once delivers it once', async () => {
    const task = await endedAs('expired');
    const answers = await Promise.all([collect(task), collect(task)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await filesOf(task)).toBe(1);
    expect(await bodies(task)).toHaveLength(2);
    await booksAreRight();
  });
});
