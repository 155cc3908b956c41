import { Injectable } from '@nestjs/common';
import { Counter, Gauge, type Registry } from 'prom-client';
import { DataSource } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { Metrics } from '../platform/observability/metrics.js';
import { CachedSample } from '../platform/observability/cached-sample.js';

const OPEN_STATUSES = ['queued', 'processing', 'reconciliation_required'] as const;

// Counts open tasks by an index-only scan, and finds the longest due work by one look-up per lane.
const SAMPLE = `
  WITH RECURSIVE lane AS (
    (SELECT lane, due_at FROM task_work ORDER BY lane, due_at LIMIT 1)
    UNION ALL
    SELECT n.lane, n.due_at FROM lane l CROSS JOIN LATERAL
      (SELECT lane, due_at FROM task_work WHERE lane > l.lane ORDER BY lane, due_at LIMIT 1) n
  )
  SELECT greatest(0, extract(epoch FROM now() - (SELECT min(due_at) FROM lane)))::double precision AS lag,
         (SELECT json_object_agg(status, count) FROM
           (SELECT status, count(*) FROM task WHERE status = ANY ($1) GROUP BY status) s) AS open`;

interface SampleRow {
  readonly lag: number | null;
  readonly open: Readonly<Record<string, number>> | null;
}

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
    const sample = new CachedSample(clock, async () => {
      const [row] = await dataSource.query<SampleRow[]>(SAMPLE, [OPEN_STATUSES]);
      return row;
    });
    gaugeOpen(registry, sample);
    gaugeLag(registry, sample);
  }
}

/** While the database does not respond, this gauge is absent from a scrape. */
function gaugeOpen(registry: Registry, sample: CachedSample<SampleRow>): void {
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
      for (const status of OPEN_STATUSES) this.set({ status }, row.open?.[status] ?? 0);
    },
  });
}

function gaugeLag(registry: Registry, sample: CachedSample<SampleRow>): void {
  new Gauge({
    name: 'gateway_tasks_lag_seconds',
    help: 'How long the longest due step of a task has been waiting',
    aggregator: 'first',
    registers: [registry],
    async collect() {
      const row = await sample.read();
      if (row) this.set(row.lag ?? 0);
      else this.remove();
    },
  });
}
