import { Controller, Get, Header, UseGuards, Injectable } from '@nestjs/common';
import { ApiOkResponse, ApiBearerAuth, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { ErrorResponses } from '../../common/errors/error-responses.decorator.js';
import { MetricsGuard } from './metrics.guard.js';
import { metricsText } from './cluster-metrics.js';
import { Metrics } from './metrics.js';

/** The text that Prometheus reads. Concurrent scrapes share one result, so that many cost as much as one. */
@Injectable()
export class Scrape {
  private running: Promise<string> | undefined;

  constructor(private readonly metrics: Metrics) {}

  /** The metrics of all processes of this gateway, in Prometheus text format. */
  text(): Promise<string> {
    this.running ??= metricsText(this.metrics.registry).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }
}

/** Name of the scraper's bearer scheme in the OpenAPI document. */
export const METRICS_SCHEME = 'metrics-token';

/** Prometheus scrapes. */
@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly scrape: Scrape) {}

  @Get()
  @ApiOkResponse({ description: 'Prometheus text', schema: { type: 'string' } })
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({
    summary: 'Metrics in Prometheus text format',
    description:
      'Counters, gauges and histograms of all processes of this gateway, for Prometheus to scrape. Without `METRICS_TOKEN` only a gateway on a loopback address serves them.',
  })
  @ApiProduces('text/plain')
  @ApiBearerAuth(METRICS_SCHEME)
  @UseGuards(MetricsGuard)
  @ErrorResponses('invalid_token', 'not_found', 'rate_limit_exceeded')
  retrieveMetrics(): Promise<string> {
    return this.scrape.text();
  }
}
