import { Injectable } from '@nestjs/common';
import type { Task } from './task.js';
import { TaskMetrics } from './task-metrics.js';
import { TaskWaits } from './task-waits.js';

/** Whoever in this process wants to hear of ended tasks. */
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
