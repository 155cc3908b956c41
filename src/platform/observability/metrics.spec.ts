import { describe, expect, it } from '@jest/globals';
import { Metrics } from './metrics.js';

describe('the metrics', () => {
  it('show a figure of the database while it is known and this process publishes it', async () => {
    const metrics = new Metrics();
    let figure: number | undefined;
    let isLeader = true;
    metrics.publishDatabaseWhile(() => isLeader);
    metrics.watchDatabase('gateway_rows', 'Rows', () => Promise.resolve(figure));
    const rows = async () => /^gateway_rows .*/m.exec(await metrics.registry.metrics())?.[0];
    expect(await rows()).toBeUndefined();
    figure = 0;
    expect(await rows()).toBe('gateway_rows 0');
    isLeader = false;
    expect(await rows()).toBeUndefined();
    isLeader = true;
    figure = undefined;
    expect(await rows()).toBeUndefined();
  });

  it('have a help text each, and names of the gateway or of Node', async () => {
    const metrics = new Metrics();
    for (const { name, help } of await metrics.registry.getMetricsAsJSON()) {
      expect(name).toMatch(/^(gateway|nodejs|process)_/);
      expect(help).toMatch(/./);
    }
    for (const name of [
      'gateway_http_requests_total',
      'gateway_upstream_duration_seconds',
      'gateway_group_commit_batch_size',
      'nodejs_eventloop_lag_seconds',
    ]) {
      expect(metrics.registry.getSingleMetric(name)).toBeDefined();
    }
  });
});
