import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import type { Task } from '../../../src/tasks/task.js';
import { ADMIN_TOKEN, type TestAccount } from '../../support/gateway.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../../support/task-harness.js';

const CREDIT = 1_000_000n;
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account(CREDIT);
});

const publicId = (task: Pick<Task, 'id'>) => toPublicId('task', task.id);
const admin = (path: string) => send(`${harness.gateway.url}/admin/${path}`, { headers: ADMIN });
const refundAt = (path: string, body: object, key?: string): Promise<Answer> => {
  const headers = { ...ADMIN, ...(key !== undefined && { 'idempotency-key': key }) };
  return postJson(`${harness.gateway.url}/admin/${path}/refund`, headers, body);
};
const refund = (task: Pick<Task, 'id'>, body: object = {}, key?: string) =>
  refundAt(`tasks/${publicId(task)}`, body, key);
const undo = async (task: Task) => {
  const [row] = await harness.gateway.dataSource.query<{ outcome: string }[]>(
    'SELECT task_cancel($1, $2) AS outcome',
    [account.accountId, task.id],
  );
  return row?.outcome;
};
const corrections = async () => {
  const path = `accounts/${toPublicId('acct', account.accountId)}/ledger?kind=correction`;
  return ((await admin(path)).json as { data: object[] }).data;
};
const available = async () => (await harness.gateway.balance(account.accountId)).available;

/** A task whose outcome an operator decided. */
async function decided(
  outcome: 'succeeded' | 'failed',
  charge?: bigint,
  apiKeyId?: string,
): Promise<Task> {
  const task = await harness.submit(account, { plan: 'html', ...(apiKeyId && { apiKeyId }) });
  await harness.run();
  const body = {
    outcome,
    ...(charge !== undefined && { charged_microusd: String(charge) }),
  };
  const answer = await postJson(
    `${harness.gateway.url}/admin/tasks/${publicId(task)}/resolve`,
    ADMIN,
    body,
  );
  expect(answer.status).toBe(200);
  return task;
}
const paid = () => decided('succeeded');

describe('POST /admin/tasks/{id}/refund', () => {
  it('refunds the charge once, as a correction linked to the task, which its holder sees', async () => {
    const task = await paid();
    const before = await (await harness.get(account, task)).json();
    expect(before).not.toHaveProperty('refunded_microusd');
    const answer = await refund(task, { note: 'sorry' });
    expect(answer.status).toBe(201);
    expect(answer.json).toMatchObject({
      object: 'ledger_entry',
      kind: 'correction',
      amount_microusd: JOB_PRICE.toString(),
      balance_after_microusd: CREDIT.toString(),
      reference: publicId(task),
      note: 'sorry',
    });
    expect(await refund(task)).toMatchObject({
      status: 409,
      json: { error: { code: 'conflict' } },
    });
    expect(await available()).toBe(CREDIT);
    expect(await corrections()).toEqual([answer.json]);
    expect((await admin(`tasks/${publicId(task)}`)).json).toMatchObject({
      status: 'succeeded',
      charged_microusd: JOB_PRICE.toString(),
      refunded_microusd: JOB_PRICE.toString(),
    });
    expect(await (await harness.get(account, task)).json()).toEqual({
      ...(before as object),
      refunded_microusd: JOB_PRICE.toString(),
    });
    const usage = await admin(`usage?account_id=${toPublicId('acct', account.accountId)}`);
    expect(usage.json).toMatchObject({ data: [{ calls: 1, charged_microusd: '0' }] });
    await harness.gateway.expectCleanBooks();
  });

  it('gives back what was charged, which may be less than what was held', async () => {
    const task = await decided('succeeded', 500n);
    expect((await refund(task)).json).toMatchObject({ amount_microusd: '500' });
    expect(await available()).toBe(CREDIT);
  });

  it('refunds once when requested ten times at once, while an error reverses the charge', async () => {
    const task = await paid();
    const asked = Array.from({ length: 10 }, () => refund(task));
    const undone = undo(task);
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    const given = statuses.filter((status) => status === 201).length;
    expect(statuses.filter((status) => status === 409)).toHaveLength(10 - given);
    expect(given + ((await undone) === 'reversed' ? 1 : 0)).toBe(1);
    expect(await corrections()).toHaveLength(1);
    expect(await available()).toBe(CREDIT);
    await harness.gateway.expectCleanBooks();
  });

  it('leaves nothing to reverse after a refund, and nothing to refund after a reversal', async () => {
    const refunded = await paid();
    expect((await refund(refunded)).status).toBe(201);
    expect(await undo(refunded)).toBe('nothing');
    const undone = await paid();
    expect(await undo(undone)).toBe('reversed');
    expect((await refund(undone)).status).toBe(409);
    expect(await available()).toBe(CREDIT);
    await harness.gateway.expectCleanBooks();
  });

  it('is free again in the spend limit of the key, as far as it goes', async () => {
    const { dataSource } = harness.gateway;
    const [key] = await dataSource.query<{ id: string }[]>(
      'SELECT id FROM api_key WHERE account_id = $1',
      [account.accountId],
    );
    const apiKeyId = key?.id ?? '';
    await dataSource.query(
      `UPDATE api_key SET spend_limit = $2, spend_limit_period = 'total' WHERE id = $1`,
      [apiKeyId, JOB_PRICE.toString()],
    );
    const room = async () => {
      const sql = 'SELECT room FROM key_room($1, $2)';
      return (await dataSource.query<object[]>(sql, [account.accountId, apiKeyId]))[0];
    };
    const task = await decided('succeeded', 500n, apiKeyId);
    expect(await room()).toEqual({ room: (JOB_PRICE - 500n).toString() });
    const part = await refund(task, { amount_microusd: '200' }, 'a');
    expect(part.status).toBe(201);
    expect(await room()).toEqual({ room: (JOB_PRICE - 300n).toString() });
    expect((await refund(task)).status).toBe(201);
    expect(await room()).toEqual({ room: JOB_PRICE.toString() });
    expect(await available()).toBe(CREDIT);
  });

  it('gives back parts of the charge, each once for its key, and never more than is left', async () => {
    const task = await decided('succeeded', 1_000n);
    const part = (amount: string, key?: string) => refund(task, { amount_microusd: amount }, key);
    expect(await part('300')).toMatchObject({
      status: 400,
      json: { error: { code: 'invalid_request', param: 'Idempotency-Key' } },
    });
    const first = await part('300', 'a');
    expect(first).toMatchObject({ status: 201, json: { amount_microusd: '300' } });
    expect(await part('300', 'a')).toMatchObject({ status: 201, json: first.json as object });
    expect(await part('301', 'a')).toMatchObject({
      status: 409,
      json: { error: { code: 'idempotency_conflict' } },
    });
    expect(await part('701', 'b')).toMatchObject({
      status: 400,
      json: { error: { param: 'amount_microusd', message: expect.stringMatching(/\b700\b/) } },
    });
    expect((await part('300', 'b')).status).toBe(201);
    expect((await admin(`tasks/${publicId(task)}`)).json).toMatchObject({
      charged_microusd: '1000',
      refunded_microusd: '600',
    });
    const rest = await refund(task);
    expect(rest).toMatchObject({ status: 201, json: { amount_microusd: '400' } });
    expect(await part('1', 'c')).toMatchObject({
      status: 409,
      json: { error: { code: 'conflict' } },
    });
    expect(await part('300', 'b')).toMatchObject({ status: 201, json: { amount_microusd: '300' } });
    expect(await corrections()).toHaveLength(3);
    expect(await available()).toBe(CREDIT);
    await harness.gateway.expectCleanBooks();
  });

  it('leaves the rest of the charge to a reversal', async () => {
    const task = await decided('succeeded', 1_000n);
    expect((await refund(task, { amount_microusd: '300' }, 'a')).status).toBe(201);
    expect(await undo(task)).toBe('reversed');
    expect(
      (await corrections()).map((entry) => (entry as { amount_microusd: string }).amount_microusd),
    ).toEqual(['700', '300']);
    expect(await undo(task)).toBe('nothing');
    expect(await available()).toBe(CREDIT);
    await harness.gateway.expectCleanBooks();
  });

  it.each(['0', '-1', '1.5', '', 'x', '99999999999999999999'])(
    'refuses %j as an amount (400)',
    async (amount) => {
      const answer = await refund({ id: randomUUID() }, { amount_microusd: amount }, 'a');
      expect(answer).toMatchObject({ status: 400, json: { error: { param: 'amount_microusd' } } });
    },
  );

  it('refuses a task that is open, one that failed and one that cost nothing (400)', async () => {
    const ended = [await decided('failed'), await decided('succeeded', 0n)];
    const open = await harness.submit(account);
    for (const task of [...ended, open]) {
      expect(await refund(task)).toMatchObject({
        status: 400,
        json: { error: { code: 'invalid_request', param: 'id' } },
      });
    }
    expect(await corrections()).toEqual([]);
    await postJson(`${harness.gateway.url}/v1/tasks/${publicId(open)}/cancel`, account.headers, {});
    await harness.gateway.expectCleanBooks();
  });

  it('refuses an unknown task and the id of an execution (404), and an unknown field (400)', async () => {
    for (const id of [toPublicId('task', randomUUID()), toPublicId('exec', randomUUID())]) {
      expect((await refundAt(`tasks/${id}`, {})).status).toBe(404);
    }
    const partly = await refund(await paid(), { amount: '1' });
    expect(partly).toMatchObject({ status: 400, json: { error: { param: 'amount' } } });
  });
});

describe('POST /admin/executions/{id}/refund', () => {
  it('refuses the id of a task and says where tasks are refunded', async () => {
    const task = await paid();
    const answer = await refundAt(`executions/${publicId(task)}`, {});
    expect(answer).toMatchObject({
      status: 400,
      json: {
        error: { param: 'id', message: expect.stringContaining('/admin/tasks/{id}/refund') },
      },
    });
  });
});
