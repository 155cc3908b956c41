import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Task } from '../../src/tasks/task.js';
import { TaskWorkRepository } from '../../src/tasks/worker/task-work.repository.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const HOUR_MS = 3_600_000;
const PROVIDER = 'replicate';

let database: TestDatabase;
let statements: TaskWorkRepository;
let jobId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  statements = new TaskWorkRepository(database.dataSource);
});
beforeEach(async () => {
  jobId = randomUUID();
  await database.dataSource.query('DELETE FROM task_work');
});
afterAll(() => database.drop());

interface Row {
  readonly job?: string;
  readonly phase?: 'waiting' | 'submitting' | 'polling' | 'watching';
  readonly lookUps?: number;
  readonly agoMs?: number;
}

/** A task, by default one whose submission was lost and looked up once. */
async function task({
  job,
  phase = 'submitting',
  lookUps = 1,
  agoMs = 0,
}: Row = {}): Promise<Task> {
  const [accountId, id] = [randomUUID(), randomUUID()];
  const lane = phase === 'waiting' || phase === 'submitting' ? 'submit' : 'poll';
  await database.dataSource.query(
    `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                       upstream_model, reserved, provider_job_id, created_at)
     VALUES ($1, $2, 'video', 'video', 'vid', '{}', $3, 'http://x', false, 'm', 1, $4,
             now() - $5 * interval '1 millisecond')`,
    [accountId, id, PROVIDER, job ?? null, agoMs],
  );
  await database.dataSource.query(
    `INSERT INTO task_work (account_id, task_id, lane, phase, strikes) VALUES ($1, $2, $3, $4, $5)`,
    [accountId, id, `${lane}/${PROVIDER}`, phase, lookUps],
  );
  return { accountId, id, provider: PROVIDER, kind: 'video' } as Task;
}

const owners = () => ({ fromMs: Date.now() - HOUR_MS, toMs: Date.now() + 60_000 });
const take = (of: Task) => statements.takeFoundJob(of, { jobId, owners: owners() });
const jobOf = async ({ id }: Task): Promise<string | null> => {
  const query = 'SELECT provider_job_id AS job FROM task WHERE id = $1';
  const [row] = await database.dataSource.query<{ job: string | null }[]>(query, [id]);
  return row?.job ?? null;
};

describe('a job that was found by its time', () => {
  it('is taken once, by one of 40 tasks that try at once, and again by that one (G-118)', async () => {
    const tasks = await Promise.all(Array.from({ length: 40 }, () => task()));
    const round = async () => (await Promise.all(tasks.map(take))).filter(Boolean).length;
    // Of those that ask at the same moment one is heard, and it may find the place taken.
    let taken = 0;
    while (taken === 0) taken = await round();
    expect(taken).toBe(1);
    await round();
    const jobs = await Promise.all(tasks.map(jobOf));
    expect(jobs.filter((job) => job !== null)).toEqual([jobId]);
    const owner = tasks[jobs.indexOf(jobId)]!;
    expect(await take(owner)).toBe(true);
  });

  it.each<[string, Row]>([
    ['has it', { phase: 'polling', lookUps: 0 }],
    ['had it long before', { phase: 'polling', lookUps: 0, agoMs: HOUR_MS / 2 }],
  ])('is not taken where another task %s', async (_what, row) => {
    await task({ ...row, job: jobId });
    const own = await task();
    expect(await take(own)).toBe(false);
    expect(await jobOf(own)).toBeNull();
  });

  it('is not taken while another submission may get it', async () => {
    const other = await task({ lookUps: 0 });
    const own = await task();
    expect(await take(own)).toBe(false);
    await database.dataSource.query(
      `UPDATE task_work SET phase = 'polling', lane = 'poll/${PROVIDER}' WHERE task_id = $1`,
      [other.id],
    );
    expect(await take(own)).toBe(true);
    expect(await jobOf(own)).toBe(jobId);
  });

  it.each<[string, Row]>([
    ['waits', { phase: 'waiting', lookUps: 0 }],
    ['is looked up too', {}],
    ['has another job', { job: 'another', phase: 'polling', lookUps: 0 }],
    ['began later', { lookUps: 0, agoMs: -HOUR_MS }],
  ])('is taken where another task %s', async (_what, row) => {
    await task(row);
    const own = await task({ lookUps: 0 });
    expect(await take(own)).toBe(true);
    expect(await jobOf(own)).toBe(jobId);
  });

  it('is not taken by a task that has another, or whose outcome is known', async () => {
    const own = await task({ job: 'another' });
    const ended = await task();
    await database.dataSource.query(
      `UPDATE task SET status = 'failed', error_code = 'x', completed_at = now() WHERE id = $1`,
      [ended.id],
    );
    expect(await take(own)).toBe(false);
    expect(await take(ended)).toBe(false);
    expect([await jobOf(own), await jobOf(ended)]).toEqual(['another', null]);
  });
});

describe('the late id of the own job of a task', () => {
  const keep = (of: Task, othersMs: number | undefined = HOUR_MS) => {
    const { accountId, id: taskId } = of;
    const watch = { watchLane: `watch/${PROVIDER}`, watchMs: 1_000 };
    return statements.storeJobId({ accountId, taskId, jobId, ...watch, ...{ othersMs } });
  };

  it('is refused where another task took the job by its time, and the reverse (G-118)', async () => {
    const [taker, late] = [await task(), await task()];
    expect(await take(taker)).toBe(true);
    expect(await keep(late)).toBe('other_task');
    expect(await jobOf(late)).toBeNull();
    expect([await keep(taker), await jobOf(taker)]).toEqual(['nothing', jobId]);
    jobId = randomUUID();
    expect(await keep(late)).toBe('kept');
    expect(await take(await task())).toBe(false);
  });

  it('and a look-up that come at once name the job of one of 20 tasks', async () => {
    for (let round = 0; round < 10; round += 1) {
      jobId = randomUUID();
      const tasks = await Promise.all(Array.from({ length: 20 }, () => task()));
      const late = tasks.at(-1)!;
      await Promise.all(tasks.map((one) => (one === late ? keep(late) : take(one))));
      const jobs = await Promise.all(tasks.map(jobOf));
      expect(jobs.filter((job) => job !== null)).toEqual([jobId]);
    }
  });

  it('waits while a look-up names its job', async () => {
    const [taker, late] = [await task(), await task()];
    const runner = database.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT pg_advisory_xact_lock(7446118)');
    const kept = keep(late);
    await runner.query('UPDATE task SET provider_job_id = $1 WHERE id = $2', [jobId, taker.id]);
    await runner.commitTransaction();
    await runner.release();
    expect(await kept).toBe('other_task');
  });

  it('is dropped where the task has another job', async () => {
    const own = await task({ job: 'another' });
    expect(await keep(own)).toBe('other_job');
    expect(await jobOf(own)).toBe('another');
  });
});
