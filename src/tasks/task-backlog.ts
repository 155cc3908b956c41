import type { DataSource } from 'typeorm';
import type { MicroUsd } from '../common/money/micro-usd.js';

/** The states of a task without a known outcome. */
export const OPEN_STATUSES = ['queued', 'processing', 'reconciliation_required'] as const;
type OpenStatus = (typeof OPEN_STATUSES)[number];

/** What tasks wait for. */
export interface TaskBacklog {
  /** How long the longest due step has been waiting. */
  readonly lagSeconds: number;
  /** How many tasks have no known outcome, by status. */
  readonly open: Readonly<Record<OpenStatus, number>>;
}

/** Tasks whose outcome a person has to find out. */
export interface UndecidedTasks {
  /** At most {@link MAX_UNDECIDED} are counted. */
  readonly tasks: number;
  /** Since the first of them waits; null where none does. */
  readonly oldestAgeSeconds: number | null;
  readonly heldMicroUsd: MicroUsd;
}

// Counts open tasks by an index-only scan, and finds the longest due work by one look-up per lane.
const BACKLOG = `
  WITH RECURSIVE lane AS (
    (SELECT lane, due_at FROM task_work ORDER BY lane, due_at LIMIT 1)
    UNION ALL
    SELECT n.lane, n.due_at FROM lane l CROSS JOIN LATERAL
      (SELECT lane, due_at FROM task_work WHERE lane > l.lane ORDER BY lane, due_at LIMIT 1) n
  )
  SELECT coalesce(greatest(0, extract(epoch FROM now() - (SELECT min(due_at) FROM lane))), 0)::double precision AS lag,
         (SELECT json_object_agg(status, count) FROM
           (SELECT status, count(*) FROM task WHERE status = ANY ($1) GROUP BY status) s) AS open`;

const MAX_UNDECIDED = 10_000;
const UNDECIDED = `
  SELECT count(*)::int AS tasks, CASE WHEN count(*) > 0 THEN greatest(0, extract(epoch FROM now() - min(completed_at)))::float8 END AS age,
         coalesce(sum(reserved), 0) AS held
    FROM (SELECT completed_at, reserved FROM task WHERE status = 'reconciliation_required' ORDER BY id LIMIT ${MAX_UNDECIDED}) t`;

/** Reads what tasks wait for. */
export async function readTaskBacklog(dataSource: DataSource): Promise<TaskBacklog> {
  const [row] = await dataSource.query<
    { lag: number; open: Partial<TaskBacklog['open']> | null }[]
  >(BACKLOG, [OPEN_STATUSES]);
  const none = { queued: 0, processing: 0, reconciliation_required: 0 };
  return { lagSeconds: row?.lag ?? 0, open: { ...none, ...row?.open } };
}

/** Reads the tasks whose outcome is unknown, by the index on the status. */
export async function readUndecidedTasks(dataSource: DataSource): Promise<UndecidedTasks> {
  const [row] =
    await dataSource.query<{ tasks: number; age: number | null; held: string }[]>(UNDECIDED);
  return {
    tasks: row?.tasks ?? 0,
    oldestAgeSeconds: row?.age ?? null,
    heldMicroUsd: BigInt(row?.held ?? 0),
  };
}
