import { randomUUID } from 'node:crypto';
import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { postgresJson } from '../../common/json-object.js';
import { Metrics } from '../../platform/observability/metrics.js';
import { Scheduler } from '../../platform/scheduler/scheduler.js';
import { ProviderRegistry, type ConfiguredProvider } from './provider-registry.js';
import { type BreakerFigure, type RouteFigure, RouteFigures } from './route-figures.js';

const REPORT_INTERVAL_MS = 10_000;
/** A report that is older than this is of a process that has ended. */
const VALID = "interval '45 seconds'";
const REPORT = `
  WITH past AS (DELETE FROM route_report WHERE reported_at < now() - interval '1 hour')
  INSERT INTO route_report (process_id, figures) VALUES ($1, $2)
  ON CONFLICT (process_id) DO UPDATE SET figures = excluded.figures, reported_at = now()`;
const REPORTS = `SELECT figures FROM route_report WHERE reported_at > now() - ${VALID}`;

/** What one process sees. */
export interface RouteReport {
  readonly providers: readonly ConfiguredProvider[];
  readonly routes: readonly RouteFigure[];
  readonly breakers: readonly BreakerFigure[];
}

/**
 * Shares what each process sees of the providers: every ten seconds it writes its figures, and whoever asks reads those of all. A
 * process without providers, such as a command, reports nothing.
 */
@Injectable()
export class RouteReports implements OnApplicationBootstrap {
  private readonly processId = randomUUID();

  constructor(
    private readonly dataSource: DataSource,
    private readonly registry: ProviderRegistry,
    private readonly figures: RouteFigures,
    private readonly scheduler: Scheduler,
    private readonly metrics: Metrics,
  ) {}

  onApplicationBootstrap(): void {
    this.metrics.watchEach(
      'gateway_provider_key_refused',
      '1 while a key comes last, because its provider refused it for its rate, its balance or its plan',
      ['provider', 'key'],
      () =>
        this.registry
          .configured()
          .flatMap(({ id: provider, keys = [] }) =>
            keys.map(({ name: key, refusedAs }) => [{ provider, key }, Number(refusedAs !== null)]),
          ),
    );
    this.scheduler.start({
      name: 'route-reports',
      intervalMs: REPORT_INTERVAL_MS,
      servesOwnCalls: true,
      // Calls report the outage.
      tick: () => this.write().catch(() => undefined),
    });
  }

  /** The reports of all processes that run; that of this one is of now. */
  async all(): Promise<RouteReport[]> {
    await this.write();
    const rows = await this.dataSource.query<{ figures: RouteReport }[]>(REPORTS);
    return rows.map(({ figures }) => figures);
  }

  private async write(): Promise<void> {
    const providers = this.registry.configured();
    if (providers.length === 0) return;
    const [routes, breakers] = [this.figures.routes(), this.figures.breakers()];
    const report: RouteReport = { providers, routes, breakers };
    await this.dataSource.query(REPORT, [this.processId, postgresJson(report)]);
  }
}
