import { Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { ProviderRegistry } from '../../providers/routing/provider-registry.js';
import { Clock } from '../../common/time/clock.js';
import type { TaskContext } from '../task-kind.js';
import type { Task } from '../task.js';
import type { ClaimedWork } from './task-work.repository.js';
import { StepNotes, type ProviderStep } from './step-notes.js';

/** Compares the configured upstream of a task's provider with the one that has its job (docs/reference/configuration.md). */
@Injectable()
export class TaskUpstreams {
  constructor(
    private readonly registry: ProviderRegistry,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
  ) {}

  /** The current base URL of the task's provider; undefined if it is not configured. */
  baseUrlOf(task: Task): string | undefined {
    return this.registry.baseUrlOf(task.provider);
  }

  /** Whether the sandbox currently replaces the task's provider. */
  isSandbox(task: Task): boolean {
    return this.registry.isSandbox(task.provider);
  }

  /** Whether an operator has paused the route of the task: nothing is submitted there. */
  isPaused({ provider, upstreamModel }: Task): boolean {
    return this.registry.paused.has({ provider, upstreamModel });
  }

  /** Whether the upstream to which the task was sent is still configured. */
  isReachable(task: Task): boolean {
    return this.baseUrlOf(task) === task.providerBaseUrl;
  }

  /** Empty notes of a step that begins, of a task of this age. */
  notesOf(
    step: ProviderStep,
    { ageMs, span, task }: Pick<ClaimedWork, 'ageMs' | 'span' | 'task'>,
  ): StepNotes {
    return new StepNotes(step, this.clock.nowMs() - ageMs, span && { span, operation: task.kind });
  }

  /** The context for a step of the task. */
  contextOf(task: Task, signal: AbortSignal, notes?: StepNotes): TaskContext {
    return {
      signal,
      onFigures: notes?.onFigures,
      onAttemptEnd: notes?.onAttemptEnd,
      onOutputCap: notes?.onOutputCap,
      route: {
        provider: task.provider,
        upstreamModel: task.upstreamModel,
        terms: this.catalog.termsOf(task.model),
      },
      accountId: task.accountId,
    };
  }
}
