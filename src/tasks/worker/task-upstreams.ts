import { Injectable } from '@nestjs/common';
import { Catalog } from '../../catalog/catalog.js';
import { ProviderRegistry } from '../../providers/routing/provider-registry.js';
import type { OnFigures } from '../../providers/ports/attempt-context.js';
import type { TaskContext } from '../task-kind.js';
import type { Task } from '../task.js';

/** Whether a task's upstream is still the one that has its work (docs/reference/configuration.md). */
@Injectable()
export class TaskUpstreams {
  constructor(
    private readonly registry: ProviderRegistry,
    private readonly catalog: Catalog,
  ) {}

  /** Where the task's provider is now; undefined when it is not configured. */
  baseUrlOf(task: Task): string | undefined {
    return this.registry.baseUrlOf(task.provider);
  }

  /** Whether the sandbox replaces the task's provider now. */
  isSandbox(task: Task): boolean {
    return this.registry.isSandbox(task.provider);
  }

  /** Whether the upstream to which the task was sent can still be asked. */
  isReachable(task: Task): boolean {
    return this.baseUrlOf(task) === task.providerBaseUrl;
  }

  /** What a step of the task gets. */
  contextOf(task: Task, signal: AbortSignal, onFigures?: OnFigures): TaskContext {
    return {
      signal,
      onFigures,
      route: {
        provider: task.provider,
        upstreamModel: task.upstreamModel,
        terms: this.catalog.termsOf(task.model),
      },
      accountId: task.accountId,
    };
  }
}
