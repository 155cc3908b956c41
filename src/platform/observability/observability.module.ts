import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { HealthController } from './health.controller.js';
import { LOGGER } from './logger.js';
import { Metrics } from './metrics.js';
import { MetricsController, Scrape } from './metrics.controller.js';
import { Readiness } from './readiness.js';
import { Tracing } from './tracing.js';

/** Gives every module the logger, the metrics and the traces; serves health and metrics. */
@Global()
@Module({})
export class ObservabilityModule {
  static forRoot(logger: Logger, tracing = new Tracing()): DynamicModule {
    return {
      module: ObservabilityModule,
      controllers: [HealthController, MetricsController],
      providers: [
        { provide: LOGGER, useValue: logger },
        { provide: Tracing, useValue: tracing },
        Metrics,
        Scrape,
        Readiness,
      ],
      exports: [LOGGER, Metrics, Readiness, Tracing],
    };
  }
}
