import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SystemClock } from '../../common/time/clock.js';
import { summedCounts, FIGURES_WINDOW_MS, quantileOf, RouteFigures } from './route-figures.js';

class HandMovedClock extends SystemClock {
  ms = 1_800_000_000_000;
  override nowMs(): number {
    return this.ms;
  }
}

const route = { provider: 'openai', upstreamModel: 'gpt-5' };
const attempt = { route, operation: 'chat', outcome: 'success', durationMs: 100 } as const;

describe('the figures of routes', () => {
  it('count outcomes and durations of the last hour, and forget what is older', () => {
    const clock = new HandMovedClock();
    const figures = new RouteFigures(clock);
    figures.count(attempt);
    clock.ms += FIGURES_WINDOW_MS / 2;
    figures.count({ ...attempt, outcome: 'timeout', durationMs: 5_000 });
    expect(figures.routes()).toMatchObject([{ ...route, outcomes: { success: 1, timeout: 1 } }]);
    clock.ms += FIGURES_WINDOW_MS / 2;
    expect(figures.routes()).toMatchObject([{ ...route, outcomes: { timeout: 1 } }]);
    clock.ms += FIGURES_WINDOW_MS;
    expect(figures.routes()).toEqual([]);
  });

  it('tell the breakers that are not closed', () => {
    const figures = new RouteFigures(new HandMovedClock());
    const breaker = { provider: 'openai', operation: 'chat' };
    figures.breaker({ ...breaker, state: 'open' });
    expect(figures.breakers()).toEqual([{ ...breaker, state: 'open' }]);
    figures.breaker({ ...breaker, state: 'closed' });
    expect(figures.breakers()).toEqual([]);
  });

  it('have quantiles within a tenth of the exact ones, over any processes', () => {
    const durations = fc.array(fc.integer({ min: 1, max: 600_000 }), {
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        fc.array(durations, { minLength: 1, maxLength: 3 }),
        fc.constantFrom(0.5, 0.99),
        (processes, share) => {
          const reports = processes.flatMap((own) => {
            const figures = new RouteFigures(new HandMovedClock());
            for (const durationMs of own) figures.count({ ...attempt, durationMs });
            return figures.routes();
          });
          const sorted = processes.flat().sort((a, b) => a - b);
          const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
          const told = quantileOf(summedCounts(reports), share) ?? 0;
          expect(Math.abs(told - exact)).toBeLessThanOrEqual(exact * 0.1 + 1);
        },
      ),
    );
  });

  it('have no quantile without an attempt', () => {
    expect(quantileOf(summedCounts([]), 0.5)).toBeNull();
  });
});
