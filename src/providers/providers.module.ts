import { type DynamicModule, Global, Module } from '@nestjs/common';
import { PROVIDERS_OPTIONS, type ProvidersOptions } from './providers.options.js';
import { AbleRoutes } from './routing/able-routes.js';
import { AttemptMetrics } from './routing/attempt-metrics.js';
import { ClosedRouteProbes } from './routing/closed-route-probes.js';
import { JobUpstreams } from './routing/job-upstreams.js';
import { ProviderRegistry } from './routing/provider-registry.js';
import { ProviderRouter } from './routing/provider-router.js';
import { RouteFigures } from './routing/route-figures.js';
import { RoutePauseStore } from './routing/route-pause-store.js';
import { RouteReports } from './routing/route-reports.js';

/**
 * The providers that do the work, and the pauses and reports of their routes. Takes the `Clock`, the metrics, the database and
 * the scheduler from global modules.
 */
@Global()
@Module({})
export class ProvidersModule {
  static forRoot(options: ProvidersOptions): DynamicModule {
    return {
      module: ProvidersModule,
      providers: [
        { provide: PROVIDERS_OPTIONS, useValue: options },
        ProviderRegistry,
        RouteFigures,
        AttemptMetrics,
        ProviderRouter,
        AbleRoutes,
        JobUpstreams,
        RoutePauseStore,
        RouteReports,
        ClosedRouteProbes,
      ],
      exports: [
        ProviderRegistry,
        ProviderRouter,
        AbleRoutes,
        JobUpstreams,
        RoutePauseStore,
        RouteReports,
      ],
    };
  }
}
