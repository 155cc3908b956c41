import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import type { Task } from '../../../src/tasks/task.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { send } from '../../support/http-answer.js';
import { startTaskHarness, type TaskHarness } from '../../support/task-harness.js';

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };

let harness: TaskHarness;
beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());

const publicId = (task: Task) => toPublicId('task', task.id);

async function listed(query: Record<string, string>): Promise<unknown[]> {
  const asked = new URLSearchParams(query).toString();
  const answer = await send(`${harness.gateway.url}/admin/tasks?${asked}`, { headers: ADMIN });
  expect(answer.status).toBe(200);
  return (answer.json as { data: { id: string }[] }).data.map(({ id }) => id);
}

describe('GET /admin/tasks', () => {
  it('lists the tasks of all accounts, newest first, or those of one account, one key or one status', async () => {
    const [one, other] = [await harness.gateway.account(), await harness.gateway.account()];
    const first = await harness.submit(one, { plan: 'accept' });
    const second = await harness.submit(other, { plan: 'accept' });
    const third = await harness.submit(one, { plan: 'accept' });
    const all = [third, second, first].map(publicId);
    expect(await listed({})).toEqual(all);
    expect(await listed({ status: 'queued' })).toEqual(all);
    expect(await listed({ status: 'succeeded' })).toEqual([]);
    const account = toPublicId('acct', one.accountId);
    expect(await listed({ account_id: account })).toEqual([all[0], all[2]]);
    expect(await listed({ api_key_id: toPublicId('key', second.apiKeyId ?? '') })).toEqual([
      all[1],
    ]);
  });
});
