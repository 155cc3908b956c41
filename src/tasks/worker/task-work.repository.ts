import { postgresJson, type JsonObject } from '../../common/json-object.js';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { UnrecordedJob } from '../../billing/recovery/reversal.js';
import type { KeptJob } from '../../billing/recovery/reversal.repository.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { TracedSpan } from '../../platform/observability/traced-span.js';
import type { MadeWithin } from '../../providers/ports/job.port.js';
import type { Task } from '../task.js';
import {
  LANE_CONCURRENCY,
  laneOf,
  LEASE_MS,
  runsHere,
  SHARE_OF_FREE,
  type TaskPhase,
} from '../task-lane.js';
import { taskOf, type TaskRow } from '../task-row.js';
import type { SendWindow } from './send-window.js';

/** Work that a worker has claimed, and its task. */
export interface ClaimedWork {
  /** The span of the step that runs, if it is traced. */
  readonly span?: TracedSpan | undefined;
  /** Until when its submission may leave this process. */
  readonly window?: SendWindow | undefined;
  readonly task: Task;
  readonly sealedInput: string | null;
  /** The provider's result, if only the file remains to be stored. */
  readonly found: JsonObject | null;
  readonly phase: TaskPhase;
  readonly fence: string;
  /** Failures of the step in a row. */
  readonly failureCount: number;
  /** Number of started submissions. */
  readonly submits: number;
  /** How often in a row the step was deferred, and for how long in all. */
  readonly deferrals: number;
  readonly deferredForMs: number;
  /** Time since the task was submitted, by the database's clock. */
  readonly ageMs: number;
}

/** The columns of the task that a step changes. */
export interface TaskFacts {
  readonly status?: 'processing';
  readonly progress?: number | null;
  readonly memory?: JsonObject | undefined;
  readonly job_id?: string;
  readonly base_url?: string;
  readonly found?: JsonObject;
  readonly evidence?: string;
  /** Empty once the provider reports a known state. */
  readonly unknown_state?: string;
  /** How often in a row the step was deferred, with this one: a number, so that a report may be repeated. */
  readonly put_off?: number;
}

/** The next step of a task and when it is due. Without a phase, only the lease is renewed. */
export interface Advance {
  readonly accountId: string;
  readonly taskId: string;
  readonly fence: string;
  readonly delayMs: number;
  readonly phase?: TaskPhase;
  readonly lane?: string;
  readonly failureCount?: number;
  readonly facts?: TaskFacts;
}

/** How much of a lane an account uses. */
export interface AccountUse {
  readonly lane: string;
  readonly accountId: string;
  readonly count: number;
}

/** The parameters of a claim. */
export interface ClaimRequest {
  /** Free capacity of the lanes with running steps. */
  readonly available: ReadonlyMap<string, number>;
  /** Running steps by lane and account. Accounts that are not listed count as 0. */
  readonly inUse: readonly AccountUse[];
  /** Tasks with running steps in this process, even if their leases have ended. They are not claimed. */
  readonly runningIds: readonly string[];
  readonly leaseMs: number;
}

interface ClaimRow extends TaskRow {
  readonly phase: TaskPhase;
  readonly fence: string;
  readonly strikes: number;
  readonly submits: number;
  readonly put_offs: number;
  readonly put_off_ms: number | null;
  readonly age_ms: number;
}

/** Most accounts that one claim visits when few accounts have most of the due work. */
const MAX_ACCOUNTS = 200;

const CLAIM = `
  SELECT (c.claimed).*, c.phase, c.fence, c.strikes, c.submits, c.put_offs, c.put_off_ms,
         (extract(epoch FROM now() - (c.claimed).created_at) * 1000)::double precision AS age_ms
    FROM task_claim_sharing($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) c`;

const ADVANCE = `SELECT task_advance($1, $2, $3, $4, $5, $6, $7, $8) AS id`;
const KEEP_JOB = `SELECT task_keep_job_v2($1, $2, $3, $4, $5, $6) AS kept`;

const MOVE = `
  WITH moved AS (
    UPDATE task_work
       SET phase = 'submitting', lane = $4, due_at = now() + $5 * interval '1 millisecond', strikes = 0,
           submits = submits + CASE WHEN phase = 'submitting' THEN 0 ELSE 1 END
     WHERE account_id = $1 AND task_id = $2 AND fence = $3
    RETURNING account_id, task_id
  )
  UPDATE task t
     SET provider = $6, upstream_model = $7, provider_base_url = $8, route_cost = $9,
         status = CASE WHEN $10 AND t.completed_at IS NULL THEN 'processing' ELSE t.status END
    FROM moved m WHERE t.account_id = m.account_id AND t.id = m.task_id
  RETURNING t.id`;

const NOTE_SUCCESS = `
  UPDATE task SET evidence_status = 'succeeded', evidence_at = now()
   WHERE account_id = $1 AND id = $2 AND status IN ('failed', 'expired')`;

const TAKE_FOUND_JOB = `
  SELECT task_take_found_job($1, $2, $3, $4, to_timestamp($5::double precision / 1000), to_timestamp($6::double precision / 1000)) AS taken`;

/** SQL statements of the worker. Each is idempotent. */
@Injectable()
export class TaskWorkRepository {
  private readonly claimStatement: PreparedStatement<ClaimRow>;
  private readonly advanceStatement: PreparedStatement<{ id: string }>;

  constructor(private readonly dataSource: DataSource) {
    this.claimStatement = new PreparedStatement(dataSource, 'task_claim_sharing', CLAIM);
    this.advanceStatement = new PreparedStatement(dataSource, 'task_advance', ADVANCE);
  }

  /** Claims and leases due work within the free capacity of the lanes and the shares of the accounts. */
  async claim({ available, inUse, runningIds, leaseMs }: ClaimRequest): Promise<ClaimedWork[]> {
    const rows = await this.claimStatement.run([
      Object.keys(LANE_CONCURRENCY),
      Object.values(LANE_CONCURRENCY),
      [...available.keys()],
      [...available.values()],
      inUse.map(({ lane }) => lane),
      inUse.map(({ accountId }) => accountId),
      inUse.map(({ count }) => count),
      SHARE_OF_FREE,
      MAX_ACCOUNTS,
      runningIds,
      leaseMs,
    ]);
    return rows.map(claimedOf);
  }

  /** Applies the changes with a current fence; returns the ids of their tasks. */
  async advance(changes: readonly Advance[]): Promise<Set<string>> {
    const rows = await this.advanceStatement.run(advanceColumns(changes));
    return new Set(rows.map(({ id }) => id));
  }

  /** Begins a submission of the task on the route and at the upstream that it has here. False with a fence that is not current. */
  async moveTo({ task, fence }: ClaimedWork): Promise<boolean> {
    const [moved] = await this.dataSource.query<[{ id: string }[], number]>(MOVE, [
      task.accountId,
      task.id,
      fence,
      laneOf('submitting', task),
      LEASE_MS,
      task.provider,
      task.upstreamModel,
      task.providerBaseUrl,
      task.routeCostMicroUsd?.toString() ?? null,
      runsHere(task.kind),
    ]);
    return moved.length === 1;
  }

  /** Stores the job id of a task that was taken over and polls it for a late result. */
  async storeJobId({ accountId, taskId, jobId, ...rest }: UnrecordedJob): Promise<KeptJob> {
    const { watchLane, watchMs, othersMs = null } = rest;
    const values = [accountId, taskId, jobId, watchLane, watchMs, othersMs];
    const [row] = await this.dataSource.query<{ kept: KeptJob }[]>(KEEP_JOB, values);
    return row?.kept ?? 'nothing';
  }

  /**
   * Names the job of a task that was found by its time. `owners` is when tasks were created of which another may have it. False if it
   * may be that of another one, or if another process looks for a job now.
   */
  async takeFoundJob(
    task: Task,
    { jobId, owners }: { readonly jobId: string; readonly owners: MadeWithin },
  ): Promise<boolean> {
    const lane = laneOf('submitting', task);
    const values = [task.accountId, task.id, lane, jobId, owners.fromMs, owners.toMs];
    const [row] = await this.dataSource.query<{ taken: boolean }[]>(TAKE_FOUND_JOB, values);
    return row?.taken === true;
  }

  /** Records that the provider finished the job of a task that had failed or expired. */
  async recordLateSuccess({ accountId, id }: Task): Promise<void> {
    await this.dataSource.query(NOTE_SUCCESS, [accountId, id]);
  }

  /** Stops polling the job of an ended task. */
  async unwatch({ task, fence }: ClaimedWork): Promise<void> {
    await this.dataSource.query(
      `DELETE FROM task_work WHERE account_id = $1 AND task_id = $2 AND fence = $3`,
      [task.accountId, task.id, fence],
    );
  }
}

/** The arguments of task_advance. */
export function advanceColumns(changes: readonly Advance[]): unknown[] {
  return [
    changes.map((change) => change.accountId),
    changes.map((change) => change.taskId),
    changes.map((change) => change.fence),
    changes.map((change) => change.lane ?? null),
    changes.map((change) => change.phase ?? null),
    changes.map((change) => Math.round(change.delayMs)),
    changes.map((change) => change.failureCount ?? null),
    changes.map((change) => (change.facts ? postgresJson(change.facts) : null)),
  ];
}

function claimedOf(row: ClaimRow): ClaimedWork {
  return {
    task: taskOf(row),
    sealedInput: row.sealed_input,
    found: row.found,
    phase: row.phase,
    fence: row.fence,
    failureCount: row.strikes,
    submits: row.submits,
    deferrals: row.put_offs,
    deferredForMs: row.put_off_ms ?? 0,
    ageMs: row.age_ms,
  };
}
