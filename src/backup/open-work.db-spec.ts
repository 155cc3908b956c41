import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../test/support/test-database.js';
import { toPublicId } from '../common/ids/public-id.js';
import { settleOpenWork } from './open-work.js';

const ACCOUNT = randomUUID();
let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function task(status: string, jobId: string | null): Promise<string> {
  const id = randomUUID();
  await database.dataSource.query(
    `INSERT INTO task (account_id, id, kind, modality, model, details, provider, provider_base_url, on_sandbox,
                       upstream_model, reserved, status, provider_job_id, charged, result, completed_at)
     VALUES ($1, $2, 'song', 'audio', 'song-music', '{}', 'ttapi', 'https://provider.example', false, 'suno/music', 500, $3, $4,
             CASE WHEN $3 = 'succeeded' THEN 500 END, CASE WHEN $3 = 'succeeded' THEN '{}'::json END,
             CASE WHEN $3 IN ('succeeded', 'reconciliation_required') THEN now() END)`,
    [ACCOUNT, id, status, jobId],
  );
  if (status === 'succeeded') return id;
  const phase = jobId === null ? 'waiting' : 'polling';
  await database.dataSource.query(
    `INSERT INTO task_work (account_id, task_id, lane, phase) VALUES ($1, $2, 'x/ttapi', $3)`,
    [ACCOUNT, id, phase],
  );
  return id;
}
const stateOf = async (id: string): Promise<unknown> =>
  (
    await database.dataSource.query<object[]>(
      `SELECT status, phase, lane, strikes, completed_at IS NOT NULL AS ended
         FROM task LEFT JOIN task_work ON task_id = id WHERE id = $1`,
      [id],
    )
  )[0];

it('leaves open tasks to an operator, polls known jobs for late results, and reports the open work', async () => {
  const [queued, polled, unknown, done] = [
    await task('queued', null),
    await task('processing', 'job-1'),
    await task('reconciliation_required', 'job-3'),
    await task('succeeded', 'job-2'),
  ];
  const open = {
    openTasks: 2,
    openTaskIds: [queued, polled].sort().map((id) => toPublicId('task', id)),
    openTasksWithJob: 1,
    openTasksHeldMicroUsd: 1_000n,
  };
  expect(await settleOpenWork(database.dataSource, true)).toMatchObject({
    ...open,
    undecidedTasks: 1,
  });
  expect(await stateOf(queued)).toMatchObject({ status: 'queued', phase: 'waiting' });

  expect(await settleOpenWork(database.dataSource, false)).toMatchObject({
    ...open,
    undecidedTasks: 3,
    liveKeys: 0,
    newestEntryAt: null,
  });
  const undecided = { status: 'reconciliation_required', ended: true };
  expect(await stateOf(queued)).toEqual({ ...undecided, phase: null, lane: null, strikes: null });
  expect(await stateOf(polled)).toEqual({
    ...undecided,
    phase: 'watching',
    lane: 'watch/ttapi',
    // More than a decision is ever tried: nothing decides it but an operator.
    strikes: 1_000,
  });
  // It may have been decided since the backup.
  expect(await stateOf(unknown)).toMatchObject({ phase: 'polling', strikes: 1_000 });
  expect(await stateOf(done)).toMatchObject({ status: 'succeeded', phase: null });
});

it('lists the oldest 100 open tasks and counts the others', async () => {
  await Promise.all(Array.from({ length: 101 }, () => task('queued', null)));
  const { openTasks, openTaskIds } = await settleOpenWork(database.dataSource, false);
  expect(openTasks).toBe(101);
  expect(new Set(openTaskIds).size).toBe(100);
  expect(openTaskIds).toEqual([...openTaskIds].sort());
});
