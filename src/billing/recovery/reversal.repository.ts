import type { DataSource } from 'typeorm';
import { PreparedStatement } from '../../platform/database/prepared-statement.js';
import type { Reversal, TaskReversal } from './reversal.js';

/** The result of {@link ReversalRepository.cancel}. */
export type ReversalOutcome = 'released' | 'reversed' | 'cancelled' | 'missing' | KeptJob;

/** What became of the id of an accepted job: the task has another one, or another task took this one by its time. */
export type KeptJob = 'kept' | 'nothing' | 'other_job' | 'other_task';

interface CancelRow {
  readonly outcome: ReversalOutcome;
}

/** Statements that make reversals. Each is idempotent. */
export class ReversalRepository {
  private readonly call: PreparedStatement<CancelRow>;
  private readonly task: PreparedStatement<CancelRow>;
  private readonly job: PreparedStatement<CancelRow>;

  constructor(dataSource: DataSource) {
    this.call = new PreparedStatement(
      dataSource,
      'execution_cancel',
      `SELECT execution_cancel($1, $2, $3, $4, $5, $6, $7, $8) AS outcome`,
    );
    this.task = new PreparedStatement(
      dataSource,
      'task_cancel',
      `SELECT task_cancel_v2($1, $2, $3, $4, coalesce($5, task_former_endpoint($6))) AS outcome`,
    );
    this.job = new PreparedStatement(
      dataSource,
      'task_keep_job_v2',
      `SELECT task_keep_job_v2($1, $2, $3, $4, $5, $6) AS outcome`,
    );
  }

  /**
   * Releases the hold or refunds the charge of a call, whatever its state is, and of a task that does not exist or has
   * ended. Throws for a task that has not ended: end it first, because its webhook is part of its end. An
   * {@link UnrecordedJob} is not cancelled: its id is stored at the task.
   */
  async cancel(reversal: Reversal): Promise<ReversalOutcome> {
    if ('jobId' in reversal) {
      const { accountId, taskId, jobId, watchLane, watchMs, othersMs = null } = reversal;
      const [kept] = await this.job.run([accountId, taskId, jobId, watchLane, watchMs, othersMs]);
      return kept?.outcome ?? 'nothing';
    }
    const [row] =
      'taskId' in reversal
        ? await this.task.run([reversal.accountId, reversal.taskId, ...boughtBy(reversal)])
        : await this.call.run([
            reversal.accountId,
            reversal.executionId,
            reversal.apiKeyId,
            reversal.model,
            reversal.endpoint,
            reversal.errorCode,
            reversal.provider,
            reversal.providerRequestId,
          ]);
    return row?.outcome ?? 'missing';
  }
}

/** What the usage of the task's charge counts by, as parameters. */
function boughtBy({ bought }: TaskReversal): (string | null)[] {
  if (!bought) return [null, null, null, null];
  return [bought.apiKeyId, bought.model, bought.endpoint ?? null, bought.kind];
}
