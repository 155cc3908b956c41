import { describe, expect, it } from '@jest/globals';
import { Metrics } from './metrics.js';

/** The samples of the books in one scrape. */
const booksIn = async (metrics: Metrics): Promise<string[]> =>
  (await metrics.registry.metrics())
    .split('\n')
    .filter((line) => /^gateway_(holds|audit)/.test(line));

describe('the metrics', () => {
  it('show the last known figures of the ledger, and none before the first', async () => {
    const metrics = new Metrics();
    expect(await booksIn(metrics)).toEqual([]);
    metrics.showBooks({
      openHolds: 3,
      oldestHoldAgeSeconds: 1.5,
      isAuditOk: null,
      auditAgeSeconds: null,
    });
    expect(await booksIn(metrics)).toEqual([
      'gateway_holds_open 3',
      'gateway_holds_oldest_age_seconds 1.5',
    ]);
    metrics.showBooks({
      openHolds: 0,
      oldestHoldAgeSeconds: 0,
      isAuditOk: false,
      auditAgeSeconds: 7,
    });
    expect(await booksIn(metrics)).toEqual([
      'gateway_holds_open 0',
      'gateway_holds_oldest_age_seconds 0',
      'gateway_audit_ok 0',
      'gateway_audit_age_seconds 7',
    ]);
    metrics.showBooks(undefined);
    expect(await booksIn(metrics)).toEqual([]);
    expect(await metrics.registry.metrics()).toContain('nodejs_eventloop_lag_seconds');
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
