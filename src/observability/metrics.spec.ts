import { describe, expect, it } from '@jest/globals';
import { Metrics, type OpenHolds } from './metrics.js';

/** The samples of open holds in one scrape. */
const holdsIn = async (metrics: Metrics): Promise<string[]> =>
  (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('gateway_holds'));

describe('the metrics', () => {
  it('ask for the open holds at each scrape, and do without them while they cannot be asked', async () => {
    const metrics = new Metrics();
    let holds: OpenHolds | undefined = { count: 3, oldestAgeSeconds: 1.5 };
    metrics.watchHolds(() =>
      holds === undefined ? Promise.reject(new Error('down')) : Promise.resolve(holds),
    );
    expect(await holdsIn(metrics)).toEqual([
      'gateway_holds_open 3',
      'gateway_holds_oldest_age_seconds 1.5',
    ]);
    holds = undefined;
    expect(await holdsIn(metrics)).toEqual([]);
    expect(await metrics.registry.metrics()).toContain('nodejs_eventloop_lag_seconds');
    holds = { count: 0, oldestAgeSeconds: 0 };
    expect(await holdsIn(metrics)).toEqual([
      'gateway_holds_open 0',
      'gateway_holds_oldest_age_seconds 0',
    ]);
  });

  it('say what each of them means, under names of the gateway or of Node', async () => {
    const metrics = new Metrics();
    metrics.watchHolds(() => Promise.resolve({ count: 0, oldestAgeSeconds: 0 }));
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
