import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { type Completion, TaskCompletion } from '../completion/task-completion.js';
import { TaskRepository } from '../reads/task.repository.js';
import type { Task } from '../task.js';
import type { PollReport } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { JobFiles } from '../worker/job-files.js';
import { TaskUpstreams } from '../worker/task-upstreams.js';

const PATIENCE_MS = 2_000;
/** Longest time for collecting one task, including its file. */
const COLLECT_LIMIT_MS = 900_000;
/** Most tasks that one process collects for operators at once. */
const MAX_AT_ONCE = 4;

/** The facts that decide whether $3 can be charged for a task. */
const OBSTACLES = `
  SELECT t.status, h.id IS NOT NULL AS "hasHold", a.posted - a.held >= $3 AS "canPay"
    FROM account a
    LEFT JOIN task t ON t.account_id = a.id AND t.id = $2
    LEFT JOIN hold h ON h.account_id = a.id AND h.id = $2
   WHERE a.id = $1`;

interface ObstaclesRow {
  readonly status: Task['status'] | null;
  readonly hasHold: boolean;
  readonly canPay: boolean;
}

type Finished = Extract<PollReport, { state: 'succeeded' }>;

/**
 * Collects, at an operator's request, the result of a job that the provider finished although its task ended without success.
 * The task keeps its state while it is collected. If anything fails, nothing changes.
 *
 * A task in `reconciliation_required` is settled from its hold. A failed or expired task costs nothing, unless the operator
 * names a charge; then a new hold is placed and settled. Both send their webhook, like every completion.
 */
@Injectable()
export class TaskCollection implements BeforeApplicationShutdown {
  private readonly running = new Set<AbortController>();

  constructor(
    private readonly repository: TaskRepository,
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
    private readonly files: JobFiles,
    private readonly completion: TaskCompletion,
    private readonly dataSource: DataSource,
  ) {}

  /**
   * The collected task. Throws 404 `not_found`; 400 for a charge above the original hold; 409 `conflict` with the reason when
   * the task, its provider, its file or the balance does not allow it; 503 when too many are being collected.
   */
  async collect(taskId: string, chargedMicroUsd?: MicroUsd): Promise<Task> {
    const task = await this.repository.findAnywhere(taskId);
    if (!task) throw new GatewayError('not_found', 'No such task.', { param: 'id' });
    this.check(task, chargedMicroUsd);
    if (this.running.size >= MAX_AT_ONCE) {
      throw new GatewayError('service_unavailable', 'Too many tasks are collected now.', {
        retryAfterSeconds: 5,
      });
    }
    const stop = new AbortController();
    const deadline = setTimeout(() => {
      stop.abort(new Error('it took too long'));
    }, COLLECT_LIMIT_MS);
    this.running.add(stop);
    try {
      return await this.collected(task, chargedMicroUsd, stop.signal);
    } finally {
      clearTimeout(deadline);
      this.running.delete(stop);
    }
  }

  beforeApplicationShutdown(): void {
    for (const stop of this.running) stop.abort(new Error('the gateway is shutting down'));
  }

  private check(task: Task, charge: MicroUsd | undefined): void {
    if (!isCollectable(task)) {
      throw conflict(`The task is ${task.status}: there is nothing to collect.`);
    }
    if (charge !== undefined && charge > task.reservedMicroUsd) {
      const message = 'The charge is above what was held for the task.';
      throw new GatewayError('invalid_request', message, { param: 'charged_microusd' });
    }
    if (task.providerJobId === null) {
      throw conflict("The provider's job of the task is not known, so it cannot be collected.");
    }
    if (!this.upstreams.isReachable(task)) {
      throw conflict(
        `The provider ${task.provider} at ${task.providerBaseUrl} is not configured here. Collect the task where it is, on a running gateway.`,
      );
    }
  }

  private async collected(
    task: Task,
    charge: MicroUsd | undefined,
    signal: AbortSignal,
  ): Promise<Task> {
    const { result, progress = null, stepState } = await this.finished(task, signal);
    const found = { ...task, result };
    const file = await this.files.fetch(found, signal).catch((error: unknown) => {
      throw uncollected(error, signal);
    });
    const completion: Completion = {
      event: task.status === 'reconciliation_required' ? 'resolvedAsSucceeded' : 'deliveredLate',
      fence: null,
      result: file?.result ?? result,
      progress,
      stepState,
      ...(file && { content: file.content }),
      ...(charge !== undefined && { chargedMicroUsd: charge }),
    };
    const ended = await this.files.endWith(task, file, () =>
      this.completion.end(task, completion, PATIENCE_MS),
    );
    return ended ?? Promise.reject(await this.whyNot(task, charge));
  }

  /** The provider's report about the finished job. Throws 409 for any other state, and when the provider does not respond. */
  private async finished(task: Task, signal: AbortSignal): Promise<Finished> {
    const context = this.upstreams.contextOf(task, signal);
    const report = await this.kinds
      .of(task.kind)
      .poll(task, context)
      .catch((error: unknown) => {
        throw uncollected(error, signal);
      });
    if (report.state === 'succeeded') return report;
    throw conflict(`The provider says that the work is ${report.state}. Nothing has changed.`);
  }

  private async whyNot(task: Task, charge: MicroUsd = 0n): Promise<GatewayError> {
    const parameters = [task.accountId, task.id, charge.toString()];
    const [now] = await this.dataSource.query<ObstaclesRow[]>(OBSTACLES, parameters);
    if (now === undefined || now.status === null) {
      return conflict('The record of the task has been dropped meanwhile.');
    }
    const isChargedAnew = charge > 0n && task.status !== 'reconciliation_required';
    if (now.status !== task.status || !isChargedAnew) {
      return conflict('The task has changed meanwhile.');
    }
    if (!now.hasHold) {
      return conflict(
        'The hold of the task is no longer on record, so nothing can be charged for it. It can be collected without a charge. Nothing has changed.',
      );
    }
    return now.canPay
      ? conflict('The balance of the account has changed meanwhile. Nothing else has.')
      : conflict('The balance of the account cannot cover the charge. Nothing has changed.');
  }
}

/** Whether a task ended in a state after which its provider may still have succeeded. */
export function isCollectable({ status }: Pick<Task, 'status'>): boolean {
  return ['reconciliation_required', 'failed', 'expired'].includes(status);
}

function uncollected(error: unknown, signal: AbortSignal): GatewayError {
  const reason: unknown = signal.aborted ? signal.reason : error;
  const said = reason instanceof Error ? reason.message : String(reason);
  return new GatewayError(
    'conflict',
    `The result could not be collected (${said}). Nothing has changed.`,
    { cause: error },
  );
}

function conflict(message: string): GatewayError {
  return new GatewayError('conflict', message);
}
