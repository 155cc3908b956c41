import { Injectable } from '@nestjs/common';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { Metrics } from '../platform/observability/metrics.js';
import { CachedSample } from '../platform/observability/cached-sample.js';
import {
  OPEN_STATUSES,
  readTaskBacklog,
  readUndecidedTasks,
  type TaskBacklog,
  type UndecidedTasks,
} from './task-backlog.js';

/** Metrics of tasks. */
@Injectable()
export class TaskMetrics {
  readonly ended: Counter<'kind' | 'status'>;
  readonly staleReports: Counter;
  readonly lateSuccesses: Counter<'kind'>;
  readonly unknownStates: Counter<'provider' | 'operation'>;

  constructor(
    dataSource: DataSource,
    clock: Clock,
    private readonly metrics: Metrics,
  ) {
    const registers = [metrics.registry];
    this.ended = new Counter({
      name: 'gateway_tasks_ended_total',
      help: 'Tasks that reached a final state',
      labelNames: ['kind', 'status'] as const,
      registers,
    });
    this.staleReports = new Counter({
      name: 'gateway_tasks_stale_reports_total',
      help: 'Reports of steps whose task had been taken over or had ended',
      registers,
    });
    this.lateSuccesses = new Counter({
      name: 'gateway_tasks_late_successes_total',
      help: 'Tasks that the provider finished after they had failed or expired here',
      labelNames: ['kind'] as const,
      registers,
    });
    this.unknownStates = new Counter({
      name: 'gateway_unknown_states_total',
      help: 'Answers about a job with a state that its adapter does not know, by route',
      labelNames: ['provider', 'operation'] as const,
      registers,
    });
    this.watchBacklog(new CachedSample(clock, () => readTaskBacklog(dataSource)));
    this.watchUndecided(new CachedSample(clock, () => readUndecidedTasks(dataSource)));
  }

  /** While the database does not respond, the gauges are absent from a scrape. */
  private watchBacklog(sample: CachedSample<TaskBacklog>): void {
    const { metrics } = this;
    new Gauge({
      name: 'gateway_tasks_open',
      help: 'Tasks without a known outcome, by status',
      labelNames: ['status'] as const,
      aggregator: 'first',
      registers: [metrics.registry],
      async collect() {
        this.reset();
        const row = metrics.showsDatabase ? await sample.read() : undefined;
        if (!row) return;
        for (const status of OPEN_STATUSES) this.set({ status }, row.open[status]);
      },
    });
    metrics.watchDatabase(
      'gateway_tasks_lag_seconds',
      'How long the longest due step of a task has been waiting',
      async () => (await sample.read())?.lagSeconds,
    );
  }

  private watchUndecided(sample: CachedSample<UndecidedTasks>): void {
    const { metrics } = this;
    metrics.watchDatabase(
      'gateway_tasks_undecided',
      'Tasks that wait for the decision of an operator; 10,000 are counted at most',
      async () => (await sample.read())?.tasks,
    );
    metrics.watchDatabase(
      'gateway_tasks_undecided_oldest_age_seconds',
      'How long the oldest of them waits; 0 without one',
      async () => {
        const row = await sample.read();
        return row && (row.oldestAgeSeconds ?? 0);
      },
    );
    metrics.watchDatabase(
      'gateway_tasks_undecided_held_microusd',
      'Micro-USD that they hold',
      async () => {
        const row = await sample.read();
        return row && Number(row.heldMicroUsd);
      },
    );
  }
}
