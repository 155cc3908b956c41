import type { DataSource } from 'typeorm';
import { toPublicId } from '../common/ids/public-id.js';

/** This many open tasks are named one by one. */
const NAMED_TASKS = 100;

/** What was under way when the backup was made, and when that was. */
export interface OpenWork {
  /** Tasks that had not ended. */
  readonly openTasks: number;
  /** The public ids of the oldest of them, at most {@link NAMED_TASKS}. */
  readonly openTaskIds: readonly string[];
  /** Those of them whose job at the provider is known. */
  readonly openTasksWithJob: number;
  readonly openTasksHeldMicroUsd: bigint;
  /** Tasks that wait for an operator's decision now, those above among them unless they were resumed. */
  readonly undecidedTasks: number;
  /** Keys that are not revoked in the backup. */
  readonly liveKeys: number;
  /** The newest entry of the books; null where there is none. */
  readonly newestEntryAt: Date | null;
}

interface Row {
  readonly open: number;
  readonly ids: string[];
  readonly with_job: number;
  readonly held: string;
  readonly undecided: number;
  readonly live_keys: number;
  readonly newest: Date | null;
}

const LOOK = `
  SELECT count(*) FILTER (WHERE status IN ('queued', 'processing'))::int AS open,
         count(*) FILTER (WHERE status IN ('queued', 'processing') AND provider_job_id IS NOT NULL)::int AS with_job,
         coalesce(sum(reserved) FILTER (WHERE status IN ('queued', 'processing')), 0)::text AS held,
         count(*) FILTER (WHERE status = 'reconciliation_required')::int AS undecided,
         ARRAY(SELECT id::text FROM task WHERE status IN ('queued', 'processing') ORDER BY id LIMIT ${NAMED_TASKS}) AS ids,
         (SELECT count(*)::int FROM api_key WHERE revoked_at IS NULL) AS live_keys,
         (SELECT max(created_at) FROM ledger_entry) AS newest
    FROM task WHERE status IN ('queued', 'processing', 'reconciliation_required')`;

/** A job that is known is watched, as that of every task whose outcome is unknown. */
const MARK = `
  WITH open AS (
    UPDATE task SET status = 'reconciliation_required', completed_at = greatest(now(), created_at)
     WHERE status IN ('queued', 'processing')
    RETURNING account_id, id, provider, provider_job_id
  ), watched AS (
    UPDATE task_work w
       SET phase = 'watching', lane = 'watch/' || o.provider, fence = w.fence + 1, strikes = 0, due_at = now()
      FROM open o
     WHERE w.account_id = o.account_id AND w.task_id = o.id AND o.provider_job_id IS NOT NULL
  )
  DELETE FROM task_work w USING open o
   WHERE w.account_id = o.account_id AND w.task_id = o.id AND o.provider_job_id IS NULL`;

/**
 * Tells what is open in a restored database. Unless it is resumed, no task is sent or polled again: since the backup it may have
 * been sent, paid and delivered, so its outcome is unknown and an operator decides (decision G-111). What it holds stays held.
 */
export async function settleOpenWork(dataSource: DataSource, resumes: boolean): Promise<OpenWork> {
  const [row] = await dataSource.query<[Row]>(LOOK);
  if (!resumes) await dataSource.query(MARK);
  return {
    openTasks: row.open,
    openTaskIds: row.ids.map((id) => toPublicId('task', id)),
    openTasksWithJob: row.with_job,
    openTasksHeldMicroUsd: BigInt(row.held),
    undecidedTasks: row.undecided + (resumes ? 0 : row.open),
    liveKeys: row.live_keys,
    newestEntryAt: row.newest,
  };
}
