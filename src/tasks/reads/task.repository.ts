import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Page, PageRequest } from '../../common/paging/page.js';
import { keysetPage } from '../../platform/database/keyset-pagination.js';
import { RowLoader } from '../../platform/database/batching/row-loader.js';
import type { Task, TaskModality, TaskStatus } from '../task.js';
import { taskOf, type TaskRow } from '../task-row.js';

/** Which tasks to list. All given filters must hold. */
export interface TaskFilter {
  readonly accountId?: string | undefined;
  readonly apiKeyId?: string | undefined;
  readonly status?: TaskStatus | undefined;
  readonly model?: string | undefined;
  readonly modality?: TaskModality | undefined;
  readonly clientRequestId?: string | undefined;
  /** Inclusive. */
  readonly createdAfter?: Date | undefined;
  /** Exclusive. */
  readonly createdBefore?: Date | undefined;
}

const COMPARISONS: readonly (readonly [keyof TaskFilter, string])[] = [
  ['accountId', 'account_id ='],
  ['apiKeyId', 'api_key_id ='],
  ['status', 'status ='],
  ['model', 'model ='],
  ['modality', 'modality ='],
  ['clientRequestId', 'client_request_id ='],
  ['createdAfter', 'created_at >='],
  ['createdBefore', 'created_at <'],
];

const LARGE = ['result', 'found', 'details', 'memory', 'sealed_input'] as const;

const LATE_SUCCESSES = `
  SELECT * FROM task
   WHERE evidence_status = 'succeeded' AND status IN ('failed', 'expired', 'reconciliation_required') ORDER BY id LIMIT $1`;

/** Reads tasks. Their inputs stay encrypted. */
@Injectable()
export class TaskRepository {
  private readonly rows: RowLoader<TaskRow>;

  constructor(private readonly dataSource: DataSource) {
    this.rows = new RowLoader(dataSource, 'task');
  }

  /** The account's task with this UUID, of any kind and status, or undefined. */
  async find(id: string, accountId: string): Promise<Task | undefined> {
    const row = await this.rows.find(accountId, id);
    return row && taskOf(row);
  }

  /** The encrypted input of a task; null once it has ended. */
  async sealedInput({ accountId, id }: Pick<Task, 'accountId' | 'id'>): Promise<string | null> {
    const [row] = await this.dataSource.query<{ sealed_input: string | null }[]>(
      `SELECT sealed_input FROM task WHERE account_id = $1 AND id = $2`,
      [accountId, id],
    );
    return row?.sealed_input ?? null;
  }

  /** The task with this UUID in any account, for operators. */
  async findAnywhere(id: string): Promise<Task | undefined> {
    const [row] = await this.dataSource.query<TaskRow[]>(`SELECT * FROM task WHERE id = $1`, [id]);
    return row && taskOf(row);
  }

  /** The oldest tasks that ended without success although their provider later reported success. */
  async lateSuccesses(limit: number): Promise<Task[]> {
    const rows = await this.dataSource.query<TaskRow[]>(LATE_SUCCESSES, [limit]);
    return rows.map(taskOf);
  }

  /**
   * Tasks, newest first. A page reads at most 10,000 rows and ends early when results are large. Throws 400 invalid_request
   * for an invalid cursor.
   */
  async list(filter: TaskFilter, page: PageRequest): Promise<Page<Task>> {
    const { createdAfter, createdBefore } = filter;
    const listing = {
      table: 'task',
      filter,
      comparisons: COMPARISONS,
      large: LARGE,
      ...indexFor(filter),
      createdAfter,
      createdBefore,
    } as const;
    return keysetPage(this.dataSource, listing, page, taskOf);
  }
}

/** The most selective index for this filter. */
function indexFor({ accountId, clientRequestId, status }: TaskFilter) {
  const ofAccount = accountId === undefined ? [] : ([['account_id', accountId]] as const);
  if (accountId !== undefined && clientRequestId !== undefined) {
    const lead = [...ofAccount, ['client_request_id', clientRequestId]] as const;
    return { lead, guard: 'client_request_id IS NOT NULL' };
  }
  return { lead: status === undefined ? ofAccount : ([...ofAccount, ['status', status]] as const) };
}
