import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { Logger } from 'pino';
import { SystemClock } from '../common/time/clock.js';
import { HOUR_MS } from '../common/time/spans.js';
import { Metrics } from '../platform/observability/metrics.js';
import { BrokenStreams } from './broken-streams.js';

const ROUTE = { provider: 'acme', upstreamModel: 'large' };

class HandMovedClock extends SystemClock {
  ms = 1_000_000;

  override nowMs(): number {
    return this.ms;
  }
}

function setUp() {
  const named: Record<string, unknown>[] = [];
  const logger = { warn: (fields: Record<string, unknown>) => named.push(fields) };
  const clock = new HandMovedClock();
  const metrics = new Metrics();
  const streams = new BrokenStreams(metrics, logger as unknown as Logger, clock);
  const id = randomUUID();
  const run = (whole: number, broken: number) => {
    for (let count = 0; count < whole; count++) streams.ended(id);
    for (let count = 0; count < broken; count++) streams.broke(id, ROUTE, 7n);
  };
  return { named, clock, metrics, run };
}

describe('BrokenStreams', () => {
  it('logs an account once when 2 of its 20 streams broke, with route and uncharged sum (G-103)', () => {
    const { named, run } = setUp();
    run(18, 2);
    run(0, 10);
    expect(named).toEqual([
      {
        account: expect.stringMatching(/^acct_/),
        streams: 20,
        broken: 2,
        routes: [{ route: 'acme large', broken: 2, uncharged_microusd: '14' }],
      },
    ]);
  });

  it('logs nothing for 1 broken stream of 20, or for 19 of 19', () => {
    for (const [whole, broken] of [
      [19, 1],
      [0, 19],
    ] as const) {
      const { named, run } = setUp();
      run(whole, broken);
      expect(named).toEqual([]);
    }
  });

  it('starts counting again after an hour', () => {
    const { named, clock, run } = setUp();
    run(18, 2);
    clock.ms += HOUR_MS;
    run(19, 0);
    expect(named).toHaveLength(1);
    run(0, 2);
    expect(named).toHaveLength(2);
  });

  it('counts every broken stream by its route', async () => {
    const { metrics, run } = setUp();
    run(1, 3);
    expect(await metrics.registry.metrics()).toContain(
      'gateway_broken_streams_total{provider="acme",upstream_model="large"} 3',
    );
  });
});
