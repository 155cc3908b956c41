import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { JsonObject } from '../../common/json-object.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { type Task, TASK_FAILED, UNFINISHED } from '../task.js';
import { type Completion, TaskCompletion } from './task-completion.js';
import { TaskKinds } from '../task-kinds.js';
import { JobsAtProvider } from '../worker/jobs-at-provider.js';
import { TaskRepository } from '../reads/task.repository.js';

const PATIENCE_MS = 2_000;

/** An operator's decision about a task with an unknown outcome. */
export interface Resolution {
  readonly outcome: 'succeeded' | 'failed';
  /** Default: the whole hold. */
  readonly chargedMicroUsd?: MicroUsd | undefined;
  /** Default: an empty one. */
  readonly result?: JsonObject | undefined;
}

type ResolvedCompletion = Omit<Completion, 'fence'>;

/** Ends tasks with an unknown outcome by an operator's decision (decisions G-53, G-55). */
@Injectable()
export class TaskResolution {
  constructor(
    private readonly repository: TaskRepository,
    private readonly completion: TaskCompletion,
    private readonly kinds: TaskKinds,
    private readonly jobs: JobsAtProvider,
  ) {}

  /**
   * Resolves the task and returns it; its webhook is sent again. A gateway asks the provider to cancel the job of a failed one, if it
   * can be; a command without a running gateway knows no provider. Throws 404 `not_found`, 409 `conflict` for a task in another
   * state, and 400 for a charge above the hold, for a charge of a failed task, and for a result that is invalid for its kind.
   */
  async resolve(taskId: string, resolution: Resolution): Promise<Task> {
    const task = await this.repository.findAnywhere(taskId);
    if (!task) throw new GatewayError('not_found', 'No such task.', { param: 'id' });
    const completion = this.completionOf(task, resolution);
    const ended =
      task.status === 'reconciliation_required'
        ? await this.completion.end(task, { ...completion, fence: null }, PATIENCE_MS)
        : undefined;
    if (!ended) throw new GatewayError('conflict', 'The task is not waiting to be resolved.');
    if (resolution.outcome === 'failed') this.jobs.cancel(task);
    return ended;
  }

  /** Throws 400 for a resolution that contradicts itself, the hold or the kind. */
  private completionOf(task: Task, resolution: Resolution): ResolvedCompletion {
    if (resolution.outcome === 'succeeded') return this.successOf(task, resolution);
    if (resolution.chargedMicroUsd !== undefined) {
      throw rejected('charged_microusd', 'A failed task is not charged.');
    }
    if (resolution.result !== undefined) {
      throw rejected('result', 'A failed task has no result.');
    }
    return { event: 'resolvedAsFailed', error: { code: TASK_FAILED, message: UNFINISHED } };
  }

  private successOf(task: Task, resolution: Resolution): ResolvedCompletion {
    const { chargedMicroUsd, result = {} } = resolution;
    if (chargedMicroUsd !== undefined && chargedMicroUsd > task.reservedMicroUsd) {
      throw rejected('charged_microusd', 'The charge is above what was held for the task.');
    }
    return {
      event: 'resolvedAsSucceeded',
      result: this.resultOf(task, result),
      ...(chargedMicroUsd !== undefined && { chargedMicroUsd }),
    };
  }

  private resultOf(task: Task, given: JsonObject): JsonObject {
    const kind = this.kinds.of(task.kind);
    const result = kind.resolvedResult ? kind.resolvedResult(task, given) : given;
    if (result) return result;
    throw rejected('result', `The result is not that of a ${kind.name} task.`);
  }
}

function rejected(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
