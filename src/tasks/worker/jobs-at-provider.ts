import { Injectable, Logger } from '@nestjs/common';
import { toPublicId } from '../../common/ids/public-id.js';
import type { Task } from '../task.js';
import type { TaskKind } from '../task-kind.js';
import { TaskKinds } from '../task-kinds.js';
import { TaskUpstreams } from './task-upstreams.js';

/** Longest time for all requests of one cancellation or deletion. */
const LIMIT_MS = 10_000;

type Asked = 'cancelAtProvider' | 'deleteAtProvider';

/**
 * What providers are asked to do with the jobs of tasks that have ended: once, after the end is committed, and only where the
 * upstream that has the job is still configured. Nothing here throws, and no answer changes a task or its money.
 */
@Injectable()
export class JobsAtProvider {
  private readonly logger = new Logger('Tasks');

  constructor(
    private readonly kinds: TaskKinds,
    private readonly upstreams: TaskUpstreams,
  ) {}

  /** Stops the job of a task that was given up. */
  cancel(task: Task, signal?: AbortSignal): Promise<void> {
    return this.ask('cancelAtProvider', task, signal);
  }

  /** Deletes the job of a task whose file is stored. */
  delete(task: Task, signal?: AbortSignal): Promise<void> {
    return this.ask('deleteAtProvider', task, signal);
  }

  private async ask(asked: Asked, task: Task, signal?: AbortSignal): Promise<void> {
    const kind: TaskKind = this.kinds.of(task.kind);
    if (!kind[asked] || task.providerJobId === null || !this.upstreams.isReachable(task)) return;
    const limit = AbortSignal.timeout(LIMIT_MS);
    const within = signal ? AbortSignal.any([signal, limit]) : limit;
    try {
      await kind[asked](task, { ...this.upstreams.contextOf(task, within), isUnguarded: true });
    } catch (error) {
      const verb = asked === 'cancelAtProvider' ? 'cancel' : 'delete';
      this.logger.warn(
        `${toPublicId('task', task.id)}: cannot ${verb} its job at the provider: ${String(error)}`,
      );
    }
  }
}
