import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { SchedulerRegistry } from '@nestjs/schedule';
import { setTimeout as sleep } from 'node:timers/promises';
import { SystemClock } from '../../common/time/clock.js';
import { HOUR_MS } from '../../common/time/spans.js';
import type { GatewayConfig } from '../config/gateway-config.js';
import { Metrics } from '../observability/metrics.js';
import { Scheduler } from './scheduler.js';

const metrics = new Metrics();
let scheduler: Scheduler;

function tickerOf(role: GatewayConfig['role']): Scheduler {
  scheduler = new Scheduler(new SchedulerRegistry(), new SystemClock(), metrics, { role });
  return scheduler;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

describe('Scheduler', () => {
  // The errors of this test's own jobs are logged.
  beforeAll(() => {
    Logger.overrideLogger(false);
  });
  afterEach(() => scheduler.stop());

  it('runs a job again and again, never two ticks at once', async () => {
    let ticks = 0;
    let underWay = 0;
    let most = 0;
    tickerOf('all').start({
      name: 'job',
      intervalMs: 1,
      tick: async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        await sleep(5);
        underWay -= 1;
        ticks += 1;
      },
    });
    await until(() => ticks >= 5);
    expect(most).toBe(1);
  });

  it('counts an error and runs the next tick', async () => {
    let ticks = 0;
    tickerOf('worker').start({
      name: 'failing',
      intervalMs: 1,
      tick: () => {
        ticks += 1;
        return Promise.reject(new Error('no'));
      },
    });
    await until(() => ticks >= 3);
    const { values } = await metrics.tickerErrors.get();
    expect(values.find(({ labels }) => labels.job === 'failing')?.value).toBeGreaterThanOrEqual(2);
  });

  it('waits in stop for the running tick and starts none afterwards', async () => {
    let started = 0;
    let ended = 0;
    tickerOf('all').start({
      name: 'job',
      intervalMs: 1,
      tick: async () => {
        started += 1;
        await sleep(30);
        ended += 1;
      },
    });
    await until(() => started === 1);
    await scheduler.stop();
    expect(ended).toBe(1);
    await sleep(20);
    expect(started).toBe(1);
  });

  it('aborts the signal of the running tick on stop, so that a long tick can end early', async () => {
    let started = 0;
    tickerOf('all').start({
      name: 'job',
      intervalMs: 1,
      tick: async (stopping) => {
        started += 1;
        await sleep(HOUR_MS, undefined, { signal: stopping }).catch(() => undefined);
      },
    });
    await until(() => started === 1);
    await scheduler.stop();
    expect(started).toBe(1);
  });

  it('runs a job at once after runSoon, long before its interval is over', async () => {
    let ticks = 0;
    const job = { name: 'job', intervalMs: HOUR_MS, tick: () => Promise.resolve((ticks += 1)) };
    tickerOf('all').start(job);
    scheduler.runSoon('job', 1);
    scheduler.runSoon('job', 5);
    await until(() => ticks === 1);
    scheduler.runSoon('job', 1);
    await until(() => ticks === 2);
  });

  it('runs a job once more after its tick if runSoon is called during the tick', async () => {
    let ticks = 0;
    let underWay = 0;
    let most = 0;
    tickerOf('all').start({
      name: 'job',
      intervalMs: HOUR_MS,
      tick: async () => {
        underWay += 1;
        most = Math.max(most, underWay);
        for (let wakes = 0; wakes < 3 && ticks === 0; wakes += 1) scheduler.runSoon('job', 1);
        await sleep(10);
        underWay -= 1;
        ticks += 1;
      },
    });
    scheduler.runSoon('job', 0);
    await until(() => ticks === 2);
    await sleep(30);
    expect([ticks, most]).toEqual([2, 1]);
  });

  it('runs nothing that was stopped or never started', async () => {
    let ticks = 0;
    tickerOf('all').start({
      name: 'job',
      intervalMs: HOUR_MS,
      tick: () => Promise.resolve((ticks += 1)),
    });
    scheduler.runSoon('another job', 0);
    await scheduler.stop();
    scheduler.runSoon('job', 0);
    await sleep(20);
    expect(ticks).toBe(0);
  });

  it('runs only jobs that serve the calls of this process if the role is api', async () => {
    const ticks = { shared: 0, own: 0 };
    tickerOf('api').start({
      name: 'shared',
      intervalMs: 1,
      tick: () => Promise.resolve((ticks.shared += 1)),
    });
    scheduler.start({
      name: 'own',
      intervalMs: 1,
      tick: () => Promise.resolve((ticks.own += 1)),
      servesOwnCalls: true,
    });
    await until(() => ticks.own >= 3);
    expect(ticks.shared).toBe(0);
  });
});
