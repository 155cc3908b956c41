import { Injectable } from '@nestjs/common';
import type { Task } from '../task.js';
import { TaskMetrics } from '../task-metrics.js';
import { TaskWaits } from '../reads/task-waits.js';

/** Listeners of this process for tasks that have ended. */
@Injectable()
export class EndListeners {
  constructor(
    private readonly waits: TaskWaits,
    private readonly metrics: TaskMetrics,
  ) {}

  tell({ id, kind, status }: Task): void {
    this.waits.ended(id);
    this.metrics.ended.inc({ kind, status });
  }
}
