import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { type DatabaseFault, databaseFaultOf } from '../../platform/database/database-errors.js';
import { ProcessLease } from '../../billing/recovery/process-lease.js';
import { Reversals } from '../../billing/recovery/reversals.js';
import { retryTransient } from '../retry-transient.js';
import { TaskRepository } from '../reads/task.repository.js';
import type { Task } from '../task.js';
import { SubmitBatches, type SubmitRow } from './submit-batches.js';

/** A submission waits this long for a database that cannot be reached. */
const PATIENCE_MS = 4_000;
/** The outcome of a submission is looked up for this long when its answer was lost. */
const LOOK_PATIENCE_MS = 2_000;
/** After these errors nothing was written: the statement never reached the server, or was rolled back. */
const WITHOUT_TRACE: ReadonlySet<DatabaseFault> = new Set([
  'unavailable',
  'aborted',
  'unique',
  'foreign-key',
  'check',
]);

/** Whether the caller can ask again with a key, and whether the API key may have a spend limit. */
interface SubmitTerms {
  readonly hasKey: boolean;
  readonly isCapped: boolean;
}

/** The statement that writes a task, its hold and its key. If its answer is lost, looks up its outcome. */
@Injectable()
export class SubmitStatement {
  readonly #submit: SubmitBatches;
  readonly #submitCapped: SubmitBatches;

  constructor(
    dataSource: DataSource,
    private readonly owed: Reversals,
    private readonly reader: TaskRepository,
    private readonly process: ProcessLease,
  ) {
    this.#submit = new SubmitBatches(dataSource, 'task_submit');
    this.#submitCapped = new SubmitBatches(dataSource, 'task_submit_capped');
  }

  /**
   * Throws the database's error, or 503 if too many wait; then there is no task. Throws {@link UnknownSubmission} if it is not
   * known whether there is one. Then the task will be cancelled, unless the caller can ask for it again with its key.
   */
  async run(task: Task, values: unknown[], { hasKey, isCapped }: SubmitTerms): Promise<SubmitRow> {
    if (this.owed.isFull) throw unrecorded();
    const statement = isCapped ? this.#submitCapped : this.#submit;
    const faults: DatabaseFault[] = [];
    const submit = () =>
      statement.run(values).catch((error: unknown) => {
        // Our own refusal: nothing was sent.
        if (!(error instanceof GatewayError)) faults.push(databaseFaultOf(error));
        throw error;
      });
    try {
      const row = await retryTransient(submit, PATIENCE_MS);
      const { accountId, id } = task;
      if (row.outcome === 'created') this.process.committed.note({ kind: 'task', accountId, id });
      return row;
    } catch (error) {
      if (faults.every((fault) => WITHOUT_TRACE.has(fault))) throw error;
      return this.outcomeOf(task, hasKey);
    }
  }

  private async outcomeOf(task: Task, hasKey: boolean): Promise<SubmitRow> {
    const { id, accountId, apiKeyId, model, kind } = task;
    const look = () => this.reader.find(id, accountId);
    const found = await retryTransient(look, LOOK_PATIENCE_MS).catch(() => undefined);
    if (found) return { outcome: 'created', created: found.createdAt };
    // The statement may still arrive. A caller with a key can ask again with it.
    const bought = { apiKeyId, model, kind };
    if (!hasKey) await this.owed.addDurably({ taskId: id, accountId, bought });
    throw new UnknownSubmission();
  }
}

const UNRECORDED = 'The task could not be recorded.';
const RETRY_AFTER_SECONDS = 1;

/** 503: the database never answered, so the task may exist. */
export class UnknownSubmission extends GatewayError {
  constructor() {
    super('service_unavailable', UNRECORDED, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

function unrecorded(): GatewayError {
  return new GatewayError('service_unavailable', UNRECORDED, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
