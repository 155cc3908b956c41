import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiBearerAuth, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { ErrorAnswers } from '../common/errors/error-answers.decorator.js';
import { metricsText } from './cluster-metrics.js';
import { MetricsGuard } from './metrics.guard.js';
import { Metrics } from './metrics.js';

/** Name of the scraper's bearer scheme in the OpenAPI document. */
export const METRICS_SCHEME = 'metrics-token';

/** Prometheus scrapes. */
@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  private scraping: Promise<string> | undefined;

  constructor(private readonly metrics: Metrics) {}

  @Get()
  @ApiOkResponse({ description: 'Prometheus text' })
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Metrics in Prometheus text format' })
  @ApiProduces('text/plain')
  @ApiBearerAuth(METRICS_SCHEME)
  @UseGuards(MetricsGuard)
  @ErrorAnswers('invalid_token', 'not_found', 'rate_limit_exceeded')
  retrieveMetrics(): Promise<string> {
    // Concurrent scrapes share one answer, so that many cost as much as one.
    this.scraping ??= metricsText(this.metrics.registry).finally(() => {
      this.scraping = undefined;
    });
    return this.scraping;
  }
}
