import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { disabledAccount } from '../../auth/bearer.guard.js';
import { isOfLeavingAccount } from '../../billing/accounts/accounts.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { BatchedFunction } from '../../platform/database/batching/batched-function.js';
import { type DatabaseFault, databaseFaultOf } from '../../platform/database/database-errors.js';
import { ProcessLease } from '../../billing/recovery/process-lease.js';
import { Reversals } from '../../billing/recovery/reversals.js';
import { retryTransient } from '../../platform/database/retry-transient.js';
import { traced, type TracedSpan } from '../../platform/observability/traced-span.js';
import { Tracing } from '../../platform/observability/tracing.js';
import { TaskRepository } from '../reads/task.repository.js';
import type { MadeTextNotes, Task } from '../task.js';
import { submitBatches, type SubmitRow } from './submit-batches.js';

/** Retries of a submission while the database cannot be reached end after this time. */
const PATIENCE_MS = 4_000;
/** After a lost response, the outcome is looked up for this long. */
const LOOKUP_PATIENCE_MS = 2_000;
/** Errors after which nothing was written: the statement did not reach the server or was rolled back. */
const WITHOUT_TRACE: ReadonlySet<DatabaseFault> = new Set([
  'unavailable',
  'aborted',
  'unique',
  'foreign-key',
  'check',
]);

/** `hasKey`: the caller can retry with an idempotency key. `endpoint`: the path of the call. */
interface SubmitTerms {
  readonly hasKey: boolean;
  readonly endpoint: string;
  /** The span of the request, if it is traced. */
  readonly span?: TracedSpan | undefined;
}

/** Writes a task, its hold and its idempotency key. If the response is lost, looks up the outcome. */
@Injectable()
export class SubmitStatement {
  private readonly submit: BatchedFunction<SubmitRow>;

  constructor(
    dataSource: DataSource,
    private readonly reversals: Reversals,
    private readonly repository: TaskRepository,
    private readonly process: ProcessLease,
    private readonly tracing: Tracing,
  ) {
    this.submit = submitBatches(dataSource);
  }

  /**
   * Throws the database's error, 503 if too many are queued, or 403 if the account moves to another cell; then there is no task.
   * Throws {@link UnknownSubmission} if the task may exist. Then it will be cancelled, unless the caller can retry with an
   * idempotency key.
   */
  async run(task: Task, values: unknown[], terms: SubmitTerms): Promise<SubmitRow> {
    const { span } = terms;
    const row = await traced(
      span,
      'hold',
      this.write(task, values, terms),
      ({ outcome, reserved }) =>
        outcome === 'created' ? { heldMicroUsd: Number(reserved ?? task.reservedMicroUsd) } : {},
    );
    if (row.outcome === 'created') this.tracing.task(task, span);
    return row;
  }

  private async write(task: Task, values: unknown[], terms: SubmitTerms): Promise<SubmitRow> {
    if (this.reversals.isFull) throw unrecorded();
    const faults: DatabaseFault[] = [];
    const submit = () =>
      this.submit.run(values).catch((error: unknown) => {
        // The gateway refused it itself: nothing was sent.
        if (!(error instanceof GatewayError)) faults.push(databaseFaultOf(error));
        throw error;
      });
    const { accountId, id } = task;
    this.process.trackOpenCall(id);
    try {
      const row = await retryTransient(submit, PATIENCE_MS);
      this.process.untrackOpenCall(id);
      if (row.outcome === 'created') this.process.committed.note({ kind: 'task', accountId, id });
      return row;
    } catch (error) {
      if (faults.every((fault) => WITHOUT_TRACE.has(fault))) {
        this.process.untrackOpenCall(id);
        // The account was closed, to move to another cell, after the call had passed the check of its key.
        throw isOfLeavingAccount(error) ? disabledAccount() : error;
      }
      return this.outcomeOf(task, terms);
    }
  }

  private async outcomeOf(task: Task, { hasKey, endpoint }: SubmitTerms): Promise<SubmitRow> {
    const { id, accountId, apiKeyId, model, kind } = task;
    const find = () => this.repository.find(id, accountId);
    const found = await retryTransient(find, LOOKUP_PATIENCE_MS).catch(() => undefined);
    // What is owed stays open until it is undone, so that no move of the account overlooks it.
    if (found !== undefined || hasKey) this.process.untrackOpenCall(id);
    if (found) {
      const reserved = found.reservedMicroUsd.toString();
      const { outputCapReason: bound_by = null } = found.stepState as MadeTextNotes;
      return { outcome: 'created', created: found.createdAt, room: null, reserved, bound_by };
    }
    // The statement may still reach the database. A caller with an idempotency key can retry.
    const bought = { apiKeyId, model, kind, endpoint };
    if (!hasKey) await this.reversals.addDurably({ taskId: id, accountId, bought });
    throw new UnknownSubmission();
  }
}

const UNRECORDED = 'The task could not be recorded.';
const RETRY_AFTER_SECONDS = 1;

/** 503: the database did not respond, so the task may exist. */
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
