import type { DataSource } from 'typeorm';
import { toPublicId } from '../common/ids/public-id.js';

/** Most open tasks that are listed by id. */
const NAMED_TASKS = 100;

/** The open work at the time of the backup. */
export interface OpenWork {
  /** Tasks that had not ended. */
  readonly openTasks: number;
  /** The public ids of the oldest of them, at most {@link NAMED_TASKS}. */
  readonly openTaskIds: readonly string[];
  /** The number of them with a known job at the provider. */
  readonly openTasksWithJob: number;
  readonly openTasksHeldMicroUsd: bigint;
  /** Tasks that now wait for an operator's decision, including the open ones unless they were resumed. */
  readonly undecidedTasks: number;
  /** Keys that are not revoked in the backup. */
  readonly liveKeys: number;
  /** Time of the newest ledger entry; null if there is none. */
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

/** More tries of a decision than are ever made: what the provider says is only shown. */
const DECIDED_BY_OPERATORS = 1_000;

/**
 * Marks open tasks as unknown. Of these, and of those that were unknown before, known jobs are polled for operators and decide nothing:
 * an operator may have decided since the backup.
 */
const MARK = `
  WITH open AS (
    UPDATE task SET status = 'reconciliation_required', completed_at = greatest(now(), created_at)
     WHERE status IN ('queued', 'processing')
    RETURNING account_id, id, provider, provider_job_id
  ), watched AS (
    UPDATE task_work w
       SET phase = 'watching', lane = 'watch/' || o.provider, fence = w.fence + 1, strikes = ${DECIDED_BY_OPERATORS}, due_at = now()
      FROM open o
     WHERE w.account_id = o.account_id AND w.task_id = o.id AND o.provider_job_id IS NOT NULL
  ), undecided AS (
    UPDATE task_work w SET strikes = ${DECIDED_BY_OPERATORS}
      FROM task t
     WHERE t.account_id = w.account_id AND t.id = w.task_id AND t.status = 'reconciliation_required'
  )
  DELETE FROM task_work w USING open o
   WHERE w.account_id = o.account_id AND w.task_id = o.id AND o.provider_job_id IS NULL`;

/**
 * Reports the open work of a restored database. Without `resumes`, open tasks become `reconciliation_required` and keep their
 * holds: since the backup they may have been sent, charged and delivered, so an operator decides (decision G-111).
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
