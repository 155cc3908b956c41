import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { IDLE_TICKER } from '../../../test/support/test-ledger.js';
import { createTestDatabase, type TestDatabase } from '../../../test/support/test-database.js';
import { SystemClock } from '../../common/time/clock.js';
import { HOUR_MS } from '../../common/time/spans.js';
import { ProviderRegistry } from './provider-registry.js';
import { RoutePauseStore } from './route-pause-store.js';

const PROVIDERS = ['openai', 'ttapi'] as const;
const MODELS = ['a', 'suno/music'] as const;

describe('the pauses of routes', () => {
  let database: TestDatabase;
  const clock = new SystemClock();
  const processes: ProviderRegistry[] = [];
  const processOf = () => {
    const registry = new ProviderRegistry({ providers: [] }, clock);
    processes.push(registry);
    return { registry, store: new RoutePauseStore(database.dataSource, registry, IDLE_TICKER) };
  };
  const words = { reason: 'slow', actor: 'cli:ann' };
  const ahead = (ms: number) => new Date(clock.nowMs() + ms);
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  beforeEach(() => database.dataSource.query('DELETE FROM route_pause'));
  afterAll(async () => {
    await Promise.all(processes.map((registry) => registry.onModuleDestroy()));
    await database.drop();
  });

  it('hold in the process that made them at once, and in another from its start on', async () => {
    const { registry, store } = processOf();
    const route = { provider: 'openai', upstreamModel: 'gpt-5' };
    await store.pause({ ...route, until: ahead(HOUR_MS), ...words });
    expect(registry.paused.has(route)).toBe(true);
    const other = processOf();
    expect(other.registry.paused.has(route)).toBe(false);
    await other.store.onApplicationBootstrap();
    expect(other.registry.paused.has(route)).toBe(true);
    await store.resume(route);
    await other.store.list();
    expect([registry.paused.has(route), other.registry.paused.has(route)]).toEqual([false, false]);
  });

  it('end by themselves', async () => {
    const { registry, store } = processOf();
    const route = { provider: 'openai', upstreamModel: 'gpt-5' };
    await store.pause({ ...route, until: ahead(-1), ...words });
    expect(await store.list()).toEqual([]);
    expect(registry.paused.has(route)).toBe(false);
  });

  it('hold for exactly the routes that the last pauses and ends name', async () => {
    const { registry, store } = processOf();
    const route = fc.record({
      provider: fc.constantFrom(...PROVIDERS),
      upstreamModel: fc.constantFrom(null, ...MODELS),
    });
    const acts = fc.array(fc.record({ route, isPause: fc.boolean() }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(acts, async (done) => {
        await database.dataSource.query('DELETE FROM route_pause');
        await store.list();
        const held = new Set<string>();
        for (const { route: of, isPause } of done) {
          const name = `${of.provider}|${of.upstreamModel ?? ''}`;
          if (isPause) await store.pause({ ...of, until: ahead(HOUR_MS), ...words });
          else await store.resume(of);
          if (isPause) held.add(name);
          else held.delete(name);
        }
        for (const provider of PROVIDERS) {
          for (const upstreamModel of MODELS) {
            const isHeld = held.has(`${provider}|`) || held.has(`${provider}|${upstreamModel}`);
            expect(registry.paused.has({ provider, upstreamModel })).toBe(isHeld);
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it('of two operators at once leave one pause', async () => {
    const { store } = processOf();
    const route = { provider: 'openai', upstreamModel: null };
    const pauses = ['one', 'two', 'three'].map((reason) =>
      store.pause({ ...route, until: ahead(HOUR_MS), actor: 'x', reason }),
    );
    await Promise.all(pauses);
    expect(await store.list()).toHaveLength(1);
  });
});
