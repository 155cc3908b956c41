import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SubmitPlan } from '../support/job-provider.js';
import { JOB_PRICE, startTaskHarness, type TaskHarness } from '../support/task-harness.js';

let harness: TaskHarness;

beforeAll(async () => {
  harness = await startTaskHarness();
  await harness.gateway.dataSource.query(`
    CREATE TABLE seen_status (id uuid, place serial, status text);
    CREATE FUNCTION note_status() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO seen_status (id, status) VALUES (NEW.id, NEW.status);
      RETURN NEW;
    END $$;
    CREATE TRIGGER first_status AFTER INSERT ON task FOR EACH ROW EXECUTE FUNCTION note_status();
    CREATE TRIGGER next_status AFTER UPDATE ON task
      FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION note_status();`);
});
afterAll(() => harness.stop());

describe('a task that succeeds', () => {
  it.each<[string, SubmitPlan[]]>([
    ['whose provider accepts a job', ['accept']],
    ['whose provider answers at once', ['done']],
    ['that takes two steps', ['step', 'accept']],
    ['that is answered at once after a step', ['step', 'done']],
  ])('%s passes through queued and processing, in this order (TASK-16)', async (_how, plans) => {
    harness.provider.plans.push(...plans);
    const task = await harness.submit(await harness.gateway.account());
    expect((await harness.read(task)).status).toBe('queued');
    await harness.run(3);
    expect(harness.provider.plans).toEqual([]);
    const rows = await harness.gateway.dataSource.query<{ status: string }[]>(
      `SELECT status FROM seen_status WHERE id = $1 ORDER BY place`,
      [task.id],
    );
    expect(rows.map(({ status }) => status)).toEqual(['queued', 'processing', 'succeeded']);
  });
});

describe('a task that expires', () => {
  it('sends its webhook, with nothing charged (HOOK-02, TASK-21, G-55)', async () => {
    const account = await harness.gateway.account(JOB_PRICE);
    const webhook = { url: 'https://example.com/hook', secret: 'a secret of the caller' };
    const task = await harness.submit(account, { plan: 'accept', webhook });
    harness.provider.state = { status: 'running', progress: 40 };
    await harness.run();
    await harness.overdue(task);
    await harness.run();
    const [told] = await harness.gateway.dataSource.query<{ body: Buffer }[]>(
      `SELECT body FROM webhook_delivery WHERE owner_id = $1`,
      [task.id],
    );
    const answer = await harness.get(account, task);
    expect(told?.body.toString()).toBe(await answer.text());
    expect(JSON.parse(told?.body.toString() ?? '')).toMatchObject({
      status: 'expired',
      error: null,
      charged_microusd: null,
    });
    const { available, held } = await harness.gateway.balance(account.accountId);
    expect({ available, held }).toEqual({ available: JOB_PRICE, held: 0n });
  });
});
