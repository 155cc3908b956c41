import { Injectable } from '@nestjs/common';
import { Counter, Gauge, type Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { Metrics } from '../platform/observability/metrics.js';
import { CachedSample } from '../platform/observability/cached-sample.js';
import { OPEN_STATUSES, readTaskBacklog, type TaskBacklog } from './task-backlog.js';

/** Metrics of tasks. */
@Injectable()
export class TaskMetrics {
  readonly ended: Counter<'kind' | 'status'>;
  readonly staleReports: Counter;
  readonly lateSuccesses: Counter<'kind'>;
  readonly unknownStates: Counter<'provider' | 'operation'>;

  constructor(dataSource: DataSource, clock: Clock, { registry }: Metrics) {
    const registers = [registry];
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
    const sample = new CachedSample(clock, () => readTaskBacklog(dataSource));
    gaugeOpen(registry, sample);
    gaugeLag(registry, sample);
  }
}

/** While the database does not respond, this gauge is absent from a scrape. */
function gaugeOpen(registry: Registry, sample: CachedSample<TaskBacklog>): void {
  new Gauge({
    name: 'gateway_tasks_open',
    help: 'Tasks without a known outcome, by status',
    labelNames: ['status'] as const,
    aggregator: 'first',
    registers: [registry],
    async collect() {
      this.reset();
      const row = await sample.read();
      if (!row) return;
      for (const status of OPEN_STATUSES) this.set({ status }, row.open[status]);
    },
  });
}

function gaugeLag(registry: Registry, sample: CachedSample<TaskBacklog>): void {
  new Gauge({
    name: 'gateway_tasks_lag_seconds',
    help: 'How long the longest due step of a task has been waiting',
    aggregator: 'first',
    registers: [registry],
    async collect() {
      const row = await sample.read();
      if (row) this.set(row.lagSeconds);
      else this.remove();
    },
  });
}
