import { postgresJson } from '../../common/postgres-json.js';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { JsonObject } from '../../common/json-object.js';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Task } from '../task.js';
import { LANE_CONCURRENCY, laneOf, SHARE_OF_FREE, type TaskPhase } from '../task-lane.js';
import { taskOf, type TaskRow } from '../task-row.js';

/** Work that a worker has claimed, and its task. */
export interface ClaimedWork {
  readonly task: Task;
  readonly sealedInput: string | null;
  /** What the provider reported, when only the file is left to be stored. */
  readonly found: JsonObject | null;
  readonly phase: TaskPhase;
  readonly fence: string;
  /** Failures of the step in a row. */
  readonly strikes: number;
  /** How often a submission was begun. */
  readonly submits: number;
  /** How often in a row it was put off, and for how long in all. */
  readonly putOffs: number;
  readonly putOffForMs: number;
  /** Time since its submission, by the clock of the database. */
  readonly ageMs: number;
}

/** What a step changes in the task's row. */
export interface TaskFacts {
  readonly status?: 'processing';
  readonly progress?: number | null;
  readonly memory?: JsonObject | undefined;
  readonly job_id?: string;
  readonly base_url?: string;
  readonly found?: JsonObject;
  readonly evidence?: string;
  /** Empty once the provider says a word that is known. */
  readonly unknown_state?: string;
  readonly put_off?: true;
}

/** The next step of the work on a task, and its time. Without a phase only the lease is renewed. */
export interface Advance {
  readonly accountId: string;
  readonly taskId: string;
  readonly fence: string;
  readonly delayMs: number;
  readonly phase?: TaskPhase;
  readonly lane?: string;
  readonly strikes?: number;
  readonly facts?: TaskFacts;
}

/** What an account has of a lane. */
export interface Holding {
  readonly lane: string;
  readonly accountId: string;
  readonly places: number;
}

/** The parameters of a claim. */
export interface ClaimRequest {
  /** Free places in the lanes that have work under way. */
  readonly rooms: ReadonlyMap<string, number>;
  /** Who has places of which lane. An account that is not named has none. */
  readonly holdings: readonly Holding[];
  /** Tasks whose steps are under way here although their leases have ended. */
  readonly mine: readonly string[];
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

/** One claim steps through at most as many accounts, if few accounts have most of what is due. */
const MAX_ACCOUNTS = 200;

const CLAIM = `
  SELECT (c.claimed).*, c.phase, c.fence, c.strikes, c.submits, c.put_offs, c.put_off_ms,
         (extract(epoch FROM now() - (c.claimed).created_at) * 1000)::double precision AS age_ms
    FROM task_claim_sharing($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) c`;

const ADVANCE = `SELECT task_advance($1, $2, $3, $4, $5, $6, $7, $8) AS id`;
const KEEP_JOB = `SELECT task_keep_job($1, $2, $3, $4, $5) AS kept`;

const NOTE_SUCCESS = `
  UPDATE task SET evidence_status = 'succeeded', evidence_at = now()
   WHERE account_id = $1 AND id = $2 AND status IN ('failed', 'expired')`;

/** The statements of the worker; each may be repeated. */
@Injectable()
export class TaskWorkRepository {
  readonly #claim: PreparedStatement<ClaimRow>;
  readonly #advance: PreparedStatement<{ id: string }>;

  constructor(private readonly dataSource: DataSource) {
    this.#claim = new PreparedStatement(dataSource, 'task_claim_sharing', CLAIM);
    this.#advance = new PreparedStatement(dataSource, 'task_advance', ADVANCE);
  }

  /** Claims and leases due work, at most as much as there are free places, and of no account more than its share. */
  async claim({ rooms, holdings, mine, leaseMs }: ClaimRequest): Promise<ClaimedWork[]> {
    const rows = await this.#claim.run([
      Object.keys(LANE_CONCURRENCY),
      Object.values(LANE_CONCURRENCY),
      [...rooms.keys()],
      [...rooms.values()],
      holdings.map(({ lane }) => lane),
      holdings.map(({ accountId }) => accountId),
      holdings.map(({ places }) => places),
      SHARE_OF_FREE,
      MAX_ACCOUNTS,
      mine,
      leaseMs,
    ]);
    return rows.map(claimedOf);
  }

  /** Applies the changes whose fence is up to date; returns their tasks. */
  async advance(changes: readonly Advance[]): Promise<Set<string>> {
    const rows = await this.#advance.run(advanceColumns(changes));
    return new Set(rows.map(({ id }) => id));
  }

  /** Names a task's job and has it watched, after the task was taken over. False if its outcome is known. */
  async keepJob({ task }: ClaimedWork, jobId: string, watchMs: number): Promise<boolean> {
    const values = [task.accountId, task.id, jobId, laneOf('watching', task.provider), watchMs];
    const [row] = await this.dataSource.query<{ kept: boolean }[]>(KEEP_JOB, values);
    return row?.kept === true;
  }

  /** Notes that the provider finished the job of a task that had failed or expired. */
  async noteSuccess({ accountId, id }: Task): Promise<void> {
    await this.dataSource.query(NOTE_SUCCESS, [accountId, id]);
  }

  /** Deletes the work of a task that has ended. */
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
    changes.map((change) => change.strikes ?? null),
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
    strikes: row.strikes,
    submits: row.submits,
    putOffs: row.put_offs,
    putOffForMs: row.put_off_ms ?? 0,
    ageMs: row.age_ms,
  };
}
