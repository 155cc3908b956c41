import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { Metrics } from '../observability/metrics.js';
import { FiguresLeader } from './figures-leader.js';
import type { Scheduler } from './scheduler.js';

describe('FiguresLeader', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => database.dataSource.query('DELETE FROM figures_leader'));
  afterAll(() => database.drop());

  const candidates = (count: number) =>
    Array.from({ length: count }, () => {
      const metrics = new Metrics();
      return {
        leader: new FiguresLeader(database.dataSource, {} as Scheduler, metrics),
        metrics,
      };
    });

  it('elects one of many processes that stand at once, and its term is renewed', async () => {
    const all = candidates(20);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(all.map(({ leader }) => leader.stand()));
      expect(all.filter(({ leader }) => leader.isLeader)).toHaveLength(1);
      expect(all.filter(({ metrics }) => metrics.showsDatabase)).toHaveLength(1);
    }
  });

  it('lets another process lead once the term of one that died is over', async () => {
    const [died, next] = candidates(2);
    await died!.leader.stand();
    await next!.leader.stand();
    expect(next!.leader.isLeader).toBe(false);
    await database.dataSource.query(
      "UPDATE figures_leader SET until = now() - interval '1 second'",
    );
    await next!.leader.stand();
    expect(next!.leader.isLeader).toBe(true);
    await died!.leader.stand();
    expect(died!.leader.isLeader).toBe(false);
  });

  it('publishes nothing once the process drains, and hands over at its end', async () => {
    const [ending, next] = candidates(2);
    const stopping = new AbortController();
    await ending!.leader.stand(stopping.signal);
    ending!.metrics.watchDatabase('gateway_rows', 'Rows', () => Promise.resolve(7));
    expect(await ending!.metrics.registry.metrics()).toContain('gateway_rows 7\n');
    stopping.abort();
    expect(await ending!.metrics.registry.metrics()).not.toContain('gateway_rows 7\n');
    await ending!.leader.beforeApplicationShutdown();
    await next!.leader.stand();
    expect(next!.leader.isLeader).toBe(true);
  });

  it('does not publish while the database does not answer, and reads nothing where another process leads', async () => {
    const [first, second] = candidates(2);
    await first!.leader.stand();
    await second!.leader.stand();
    let reads = 0;
    for (const { metrics } of [first!, second!]) {
      metrics.watchDatabase('gateway_rows', 'Rows', () => {
        reads += 1;
        return Promise.resolve(undefined);
      });
    }
    expect(await first!.metrics.registry.metrics()).not.toMatch(/^gateway_rows /m);
    expect(await second!.metrics.registry.metrics()).not.toMatch(/^gateway_rows /m);
    expect(reads).toBe(1);
  });
});
