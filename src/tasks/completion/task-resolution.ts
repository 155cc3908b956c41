import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { JsonObject } from '../../common/json-object.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import { type Task, TASK_FAILED } from '../task.js';
import { type Completion, TaskCompletion } from './task-completion.js';
import { TaskKinds } from '../task-kinds.js';
import { TaskRepository } from '../reads/task.repository.js';

const PATIENCE_MS = 2_000;

/** What an operator has found out about a task whose outcome was unknown. */
export interface Resolution {
  readonly outcome: 'succeeded' | 'failed';
  /** Default: all that was held. */
  readonly chargedMicroUsd?: MicroUsd | undefined;
  /** Default: an empty one. */
  readonly result?: JsonObject | undefined;
}

type ResolvedEnding = Omit<Completion, 'fence'>;

/** Ends tasks with an unknown outcome as an operator decides (decisions G-53, G-55). */
@Injectable()
export class TaskResolution {
  constructor(
    private readonly reader: TaskRepository,
    private readonly ending: TaskCompletion,
    private readonly kinds: TaskKinds,
  ) {}

  /**
   * The resolved task; its webhook goes out again. Throws 404 `not_found`, 409 `conflict` for a task in another state,
   * 400 for a charge above the hold or for a failed task, and for a result that the task's kind does not have.
   */
  async resolve(taskId: string, resolution: Resolution): Promise<Task> {
    const task = await this.reader.findAnywhere(taskId);
    if (!task) throw new GatewayError('not_found', 'No such task.', { param: 'id' });
    const ending = this.endingOf(task, resolution);
    const ended =
      task.status === 'reconciliation_required'
        ? await this.ending.end(task, { ...ending, fence: null }, PATIENCE_MS)
        : undefined;
    if (!ended) throw new GatewayError('conflict', 'The task is not waiting to be resolved.');
    return ended;
  }

  /** Throws 400 for a resolution that contradicts itself, the hold or the kind. */
  private endingOf(task: Task, resolution: Resolution): ResolvedEnding {
    if (resolution.outcome === 'succeeded') return this.successOf(task, resolution);
    if (resolution.chargedMicroUsd !== undefined) {
      throw refused('charged_microusd', 'A failed task is not charged.');
    }
    if (resolution.result !== undefined) {
      throw refused('result', 'A failed task has no result.');
    }
    const message = 'The provider did not finish the task.';
    return { event: 'resolvedAsFailed', error: { code: TASK_FAILED, message } };
  }

  private successOf(task: Task, resolution: Resolution): ResolvedEnding {
    const { chargedMicroUsd, result = {} } = resolution;
    if (chargedMicroUsd !== undefined && chargedMicroUsd > task.reservedMicroUsd) {
      throw refused('charged_microusd', 'The charge is above what was held for the task.');
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
    throw refused('result', `The result is not that of a ${kind.name} task.`);
  }
}

function refused(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
