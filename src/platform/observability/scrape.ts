import { Injectable } from '@nestjs/common';
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
