import { Injectable } from '@nestjs/common';
import { Metrics } from '../../platform/observability/metrics.js';
import type { Task } from '../task.js';
import { TaskMetrics } from '../task-metrics.js';
import { LongPoll } from '../reads/long-poll.js';

/** Updates long polls and metrics of this process when a task has ended. */
@Injectable()
export class CompletionListeners {
  constructor(
    private readonly longPoll: LongPoll,
    private readonly metrics: TaskMetrics,
    private readonly money: Metrics,
  ) {}

  notify({ id, kind, status, model, chargedMicroUsd: charge }: Task): void {
    this.longPoll.ended(id, status);
    this.metrics.ended.inc({ kind, status });
    if (charge !== null) this.money.chargedMicroUsd.inc({ model }, Number(charge));
    else if (status !== 'reconciliation_required') this.money.failedCalls.inc({ model });
  }
}
