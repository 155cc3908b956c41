import { Injectable } from '@nestjs/common';
import { Metrics } from '../../observability/metrics.js';
import type { Task } from '../task.js';
import { TaskMetrics } from '../task-metrics.js';
import { TaskWaits } from '../reads/task-waits.js';

/** Listeners of this process for tasks that have ended. */
@Injectable()
export class EndListeners {
  constructor(
    private readonly waits: TaskWaits,
    private readonly metrics: TaskMetrics,
    private readonly money: Metrics,
  ) {}

  tell({ id, kind, status, model, chargedMicroUsd: charge }: Task): void {
    this.waits.ended(id, status);
    this.metrics.ended.inc({ kind, status });
    if (charge !== null) this.money.chargedMicroUsd.inc({ model }, Number(charge));
    else if (status !== 'reconciliation_required') this.money.failedCalls.inc({ model });
  }
}
