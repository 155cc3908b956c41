import type { DataSource } from 'typeorm';
import { PreparedStatement } from '../../database/prepared-statement.js';
import type { Reversal, TaskReversal } from './reversal.js';

/** What {@link ReversalRepository.cancel} has done. */
export type ReversalOutcome =
  'released' | 'reversed' | 'cancelled' | 'kept' | 'nothing' | 'missing';

interface CancelRow {
  readonly outcome: ReversalOutcome;
}

/** The statements that cancel what is owed. Each may be repeated. */
export class ReversalRepository {
  readonly #call: PreparedStatement<CancelRow>;
  readonly #task: PreparedStatement<CancelRow>;
  readonly #job: PreparedStatement<CancelRow>;

  constructor(dataSource: DataSource) {
    this.#call = new PreparedStatement(
      dataSource,
      'execution_cancel',
      `SELECT execution_cancel($1, $2, $3, $4, $5, $6, $7, $8) AS outcome`,
    );
    this.#task = new PreparedStatement(
      dataSource,
      'task_cancel',
      `SELECT task_cancel($1, $2, $3, $4, $5) AS outcome`,
    );
    this.#job = new PreparedStatement(
      dataSource,
      'task_keep_job',
      `SELECT CASE WHEN task_keep_job($1, $2, $3, $4, $5) THEN 'kept' ELSE 'nothing' END AS outcome`,
    );
  }

  /**
   * Makes sure that a call holds nothing and costs nothing, whatever happened to it, and so a task that does not exist or has
   * ended. Throws for a task that has not: it has to be ended before, because its webhook belongs to its end. The job of a
   * task is not cancelled but kept.
   */
  async cancel(owed: Reversal): Promise<ReversalOutcome> {
    if ('jobId' in owed) {
      const { accountId, taskId, jobId, watchLane, watchMs } = owed;
      const [kept] = await this.#job.run([accountId, taskId, jobId, watchLane, watchMs]);
      return kept?.outcome ?? 'nothing';
    }
    const [row] =
      'taskId' in owed
        ? await this.#task.run([owed.accountId, owed.taskId, ...boughtBy(owed)])
        : await this.#call.run([
            owed.accountId,
            owed.executionId,
            owed.apiKeyId,
            owed.model,
            owed.endpoint,
            owed.errorCode,
            owed.provider,
            owed.providerRequestId,
          ]);
    return row?.outcome ?? 'missing';
  }
}

/** Whose usage the charge of a task is, as parameters. */
function boughtBy({ bought }: TaskReversal): (string | null)[] {
  return bought ? [bought.apiKeyId, bought.model, bought.kind] : [null, null, null];
}
