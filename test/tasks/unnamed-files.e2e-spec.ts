import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { StoredFileSweeper } from '../../src/platform/storage/stored-file-sweeper.js';
import { LEASE_MS } from '../../src/tasks/task-lane.js';
import type { Task } from '../../src/tasks/task.js';
import { DownloadStep } from '../../src/tasks/worker/download-step.js';
import {
  type ClaimedWork,
  TaskWorkRepository,
} from '../../src/tasks/worker/task-work.repository.js';
import type { TestAccount } from '../support/gateway.js';
import { startTaskHarness, type TaskHarness } from '../support/task-harness.js';

let harness: TaskHarness;
let account: TestAccount;
beforeAll(async () => {
  harness = await startTaskHarness();
  await query(`
    CREATE FUNCTION refuse_end() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'the end cannot be stored' USING ERRCODE = 'check_violation'; END $$`);
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account();
});
afterEach(() => query('DROP TRIGGER IF EXISTS refused ON task'));

const query = <T>(sql: string, values: unknown[] = []): Promise<T[]> =>
  harness.gateway.dataSource.query<T[]>(sql, values);

/** The files of the account, and whether they last longer than an hour. */
const files = () =>
  query<{ id: string; is_kept: boolean }>(
    `SELECT id, expires_at > now() + interval '1 hour' AS is_kept FROM stored_file WHERE account_id = $1`,
    [account.accountId],
  );

/** A task whose file is to be stored next. */
async function finished(): Promise<Task> {
  const task = await harness.submit(account, { kind: 'file-job' });
  await harness.run(2);
  return task;
}

async function claim(): Promise<ClaimedWork> {
  await harness.hurry();
  const statements = harness.gateway.app.get(TaskWorkRepository);
  const asked = {
    available: new Map<string, number>(),
    inUse: [],
    runningIds: [],
    leaseMs: LEASE_MS,
  };
  const [work] = await statements.claim(asked);
  if (work?.phase !== 'collecting') throw new Error('a file is to be stored');
  return work;
}

const collect = (work: ClaimedWork): Promise<void> =>
  harness.gateway.app.get(DownloadStep).run(work, new AbortController().signal);

async function expectNamed(task: Task): Promise<void> {
  const { status, content } = await harness.read(task);
  expect(status).toBe('succeeded');
  expect(await files()).toEqual([{ id: content?.fileId, is_kept: true }]);
}

describe('a stored file', () => {
  it('is removed when its end cannot be recorded, and the task names the one of the next attempt', async () => {
    const task = await finished();
    await query(
      `CREATE TRIGGER refused BEFORE UPDATE ON task FOR EACH ROW WHEN (NEW.status = 'succeeded')
        EXECUTE FUNCTION refuse_end()`,
    );
    await harness.run();
    expect(await harness.read(task)).toMatchObject({ status: 'processing' });
    expect(await files()).toEqual([]);
    await query('DROP TRIGGER refused ON task');
    await harness.run();
    await expectNamed(task);
  });

  it('of a worker that lost its lease is removed, and that of the other one is named', async () => {
    const task = await finished();
    const [late, mine] = [await claim(), await claim()];
    await collect(mine);
    await collect(late);
    await expectNamed(task);
  });

  it('that was given up is named by no end, so the task stores another', async () => {
    const task = await finished();
    const work = await claim();
    await query(
      `CREATE FUNCTION give_up() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN NEW.expires_at := 'epoch'; RETURN NEW; END $$;
       CREATE TRIGGER given_up BEFORE UPDATE ON stored_file FOR EACH ROW WHEN (NEW.state = 'stored')
        EXECUTE FUNCTION give_up()`,
    );
    await collect(work);
    expect(await harness.read(task)).toMatchObject({ status: 'processing', content: null });
    await query('DROP TRIGGER given_up ON stored_file; DROP FUNCTION give_up');
    await harness.run();
    await expectNamed(task);
  });

  it('that a dead process left is swept within hours', async () => {
    const task = await finished();
    await harness.files.collect(task);
    await harness.run();
    const { content } = await harness.read(task);
    expect((await files()).map(({ is_kept }) => is_kept).sort()).toEqual([false, true]);
    await query(`UPDATE stored_file SET expires_at = expires_at - interval '2 hours 1 second'`);
    await harness.gateway.app.get(StoredFileSweeper).sweep();
    expect(await files()).toEqual([{ id: content?.fileId, is_kept: true }]);
  });
});
