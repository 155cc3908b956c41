import { type DynamicModule, Global, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { HealthController } from './health.controller.js';
import { LOGGER } from './logger.js';
import { Metrics } from './metrics.js';
import { MetricsController, Scrape } from './metrics.controller.js';
import { Readiness } from './readiness.js';

/** Gives every module the logger and the metrics; serves health and metrics. */
@Global()
@Module({})
export class ObservabilityModule {
  static forRoot(logger: Logger): DynamicModule {
    return {
      module: ObservabilityModule,
      controllers: [HealthController, MetricsController],
      providers: [{ provide: LOGGER, useValue: logger }, Metrics, Scrape, Readiness],
      exports: [LOGGER, Metrics, Readiness],
    };
  }
}
