import { Controller, Get, Header } from '@nestjs/common';
import { ApiOperation, ApiProduces, ApiTags } from '@nestjs/swagger';
import { metricsText } from './cluster-metrics.js';
import { Metrics } from './metrics.js';

/** Prometheus scrapes. */
@ApiTags('health')
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Header('Content-Type', 'text/plain; version=0.0.4; charset=utf-8')
  @Header('Cache-Control', 'no-store')
  @ApiOperation({ summary: 'Metrics in Prometheus text format' })
  @ApiProduces('text/plain')
  scrape(): Promise<string> {
    return metricsText(this.metrics.registry);
  }
}
