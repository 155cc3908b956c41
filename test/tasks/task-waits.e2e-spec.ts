import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TaskView } from '../../src/tasks/task.view.js';
import type { TestAccount } from '../support/gateway.js';
import { endTask } from '../support/end-task.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account();
  harness.provider.state = { status: 'done', result: { url: 'x' } };
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('Prefer: wait', () => {
  it('answers when the task has ended (G-98)', async () => {
    const task = await harness.submit(account);
    const waiting = harness.get(account, task, { prefer: 'respond-async, wait=30' });
    await pause(100);
    await harness.run(2);
    const response = await waiting;
    expect(response.headers.get('preference-applied')).toBe('wait=30');
    expect(((await response.json()) as TaskView).status).toBe('succeeded');
  });

  it('answers when a task ended in another process has been seen', async () => {
    const task = await harness.submit(account);
    const waiting = harness.get(account, task, { prefer: 'wait=30' });
    await pause(100);
    await endTask(harness.gateway.dataSource, task.accountId, task.id, 'expired');
    expect(((await (await waiting).json()) as TaskView).status).toBe('expired');
  });

  it('answers with the task as it is when the time is over (G-98)', async () => {
    const task = await harness.submit(account);
    const response = await harness.get(account, task, { prefer: 'wait=1' });
    expect(response.headers.get('preference-applied')).toBe('wait=1');
    expect(((await response.json()) as TaskView).status).toBe('queued');
  });

  it('answers at once for a task that has ended', async () => {
    const task = await harness.submit(account);
    await harness.run(2);
    const response = await harness.get(account, task, { prefer: 'wait=60' });
    expect(response.headers.get('preference-applied')).toBe('wait=60');
  });

  it('ignores other values (G-98)', async () => {
    const task = await harness.submit(account);
    for (const prefer of ['wait=0', 'wait=61', 'wait=x', 'respond-async']) {
      const response = await harness.get(account, task, { prefer });
      expect(response.headers.get('preference-applied')).toBeNull();
    }
  });

  it('lets 20 requests of a key wait and responds to the next at once (G-98)', async () => {
    const task = await harness.submit(account);
    const waiting = Array.from({ length: 20 }, () =>
      harness.get(account, task, { prefer: 'wait=60' }),
    );
    await pause(500);
    const next = await harness.get(account, task, { prefer: 'wait=60' });
    expect(next.headers.get('preference-applied')).toBeNull();
    await harness.run(2);
    for (const response of await Promise.all(waiting)) {
      expect(response.headers.get('preference-applied')).toBe('wait=60');
    }
    const again = await harness.get(account, task, { prefer: 'wait=60' });
    expect(again.headers.get('preference-applied')).toBe('wait=60');
  });

  it('gives the wait of a disconnected client to another', async () => {
    const task = await harness.submit(account);
    const leaving = new AbortController();
    const gone = Array.from({ length: 20 }, () =>
      fetch(`${harness.gateway.url}/v1/tasks/task_${task.id.replaceAll('-', '')}`, {
        headers: { ...account.headers, prefer: 'wait=60' },
        signal: leaving.signal,
      }).catch(() => undefined),
    );
    await pause(500);
    leaving.abort();
    await Promise.all(gone);
    await pause(100);
    const response = await harness.get(account, task, { prefer: 'wait=1' });
    expect(response.headers.get('preference-applied')).toBe('wait=1');
  });

  it.each([
    ['is revoked', 'UPDATE api_key SET revoked_at = now() WHERE account_id = $1', 'invalid_token'],
    [
      'expires',
      `UPDATE api_key SET expires_at = now() + interval '500 ms' WHERE account_id = $1`,
      'invalid_token',
    ],
    [
      'has lost the scope',
      `UPDATE api_key SET scopes = '{read}' WHERE account_id = $1`,
      'permission_denied',
    ],
    [
      'has a disabled account',
      'UPDATE account SET disabled = true WHERE id = $1',
      'account_disabled',
    ],
  ])('ends within seconds with an error where the key %s (AUTH-04)', async (_what, sql, code) => {
    const task = await harness.submit(account);
    const others = await harness.gateway.account();
    const lasting = harness.get(others, await harness.submit(others), { prefer: 'wait=6' });
    const waiting = harness.get(account, task, { prefer: 'wait=60' });
    await pause(300);
    const begin = performance.now();
    await harness.gateway.dataSource.query(sql, [account.accountId]);
    const response = await waiting;
    expect(performance.now() - begin).toBeLessThan(4_000);
    expect([401, 403]).toContain(response.status);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect((await lasting).headers.get('preference-applied')).toBe('wait=6');
  });
});
