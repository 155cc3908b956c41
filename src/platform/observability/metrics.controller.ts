import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiBearerAuth, ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { ErrorResponses } from '../../common/errors/error-responses.decorator.js';
import { MetricsGuard } from './metrics.guard.js';
import { Scrape } from './scrape.js';

/** Name of the scraper's bearer scheme in the OpenAPI document. */
export const METRICS_SCHEME = 'metrics-token';

/** Prometheus scrapes. */
@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly scrape: Scrape) {}

  @Get()
  @ApiOkResponse({ description: 'Prometheus text' })
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Metrics in Prometheus text format' })
  @ApiProduces('text/plain')
  @ApiBearerAuth(METRICS_SCHEME)
  @UseGuards(MetricsGuard)
  @ErrorResponses('invalid_token', 'not_found', 'rate_limit_exceeded')
  retrieveMetrics(): Promise<string> {
    return this.scrape.text();
  }
}
