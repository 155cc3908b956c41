import { describe, expect, it } from '@jest/globals';
import {
  Contention,
  groupOver,
  type Item,
  itemOf,
  numbers,
  PATIENCE,
  RolledBack,
  tick,
} from '../../../test/support/number-batcher.js';
import { MAX_BATCH, NotCommitted } from './execution-batcher.js';

const END = { ...PATIENCE, isEnd: true };

const doubled = (items: readonly Item[]): number[] => items.map((item) => item.n * 2);
const slowly = async (items: readonly Item[]): Promise<number[]> => {
  await tick();
  return doubled(items);
};

describe('the batcher of the ledger', () => {
  it('sends an item alone when no statement is running, and later items together', async () => {
    const { group, batches } = groupOver(slowly);
    const results = await Promise.all(
      [1, 2, 3, 4].map((n) => group.submit(itemOf('a', n), PATIENCE)),
    );
    expect(results).toEqual([2, 4, 6, 8]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  it('carries many accounts in one statement', async () => {
    const { group, batches } = groupOver(slowly);
    await Promise.all(numbers(41).map((n) => group.submit(itemOf(`${n}`, n), PATIENCE)));
    expect(batches).toEqual([[0], numbers(41).slice(1)]);
  });

  it('puts at most 256 items into a batch', async () => {
    const { group, batches } = groupOver((items) => Promise.resolve(doubled(items)));
    await Promise.all(numbers(600).map((n) => group.submit(itemOf('a', n), PATIENCE)));
    expect(batches.map((batch) => batch.length)).toEqual([1, MAX_BATCH, MAX_BATCH, 87]);
  });

  it('shares a batch between accounts, ends of calls first', async () => {
    const { group, batches } = groupOver(slowly);
    const first = group.submit(itemOf('a', -1), PATIENCE);
    const flood = numbers(1_000).map((n) => group.submit(itemOf('a', n), PATIENCE));
    const other = [2_000, 2_001].map((n) => group.submit(itemOf('ba', n), PATIENCE));
    const end = group.submit(itemOf('a', 3_000), END);
    await Promise.all([first, ...flood, ...other, end]);
    expect(batches[1]).toEqual(expect.arrayContaining([2_000, 2_001, 3_000]));
    expect(batches[1]![0]).toBe(3_000);
  });

  it('retries a batch after contention', async () => {
    let tries = 0;
    const { group } = groupOver((items) => {
      tries += 1;
      return tries < 3 ? Promise.reject(new Contention()) : Promise.resolve(doubled(items));
    });
    expect(await group.submit(itemOf('a', 21), PATIENCE)).toBe(42);
    expect(tries).toBe(3);
  });

  it('refuses items queued behind a slow statement, each at its own deadline', async () => {
    let answer = () => undefined as unknown;
    const { group, batches, clock } = groupOver(async (items) => {
      await new Promise(
        (resolve) =>
          (answer = () => {
            resolve(undefined);
          }),
      );
      return doubled(items);
    });
    const first = group.submit(itemOf('a', 1), PATIENCE);
    const patient = group.submit(itemOf('a', 2), { ...PATIENCE, patienceMs: 5_000 });
    const starts = [3, 4].map((n) => group.submit(itemOf(`account ${n}`, n), PATIENCE));
    clock.ms = 1_000;
    for (const start of starts) await expect(start).rejects.toBeInstanceOf(NotCommitted);
    answer();
    expect(await first).toBe(2);
    await tick();
    answer();
    expect(await patient).toBe(4);
    expect(batches).toEqual([[1], [2]]);
    expect(group.ready).toMatchObject({ readyCalls: 0, readyGroups: 0 });
  });

  it('refuses a late item even if the clock steps back at that moment', async () => {
    let answer = () => undefined as unknown;
    const { group, clock } = groupOver(async (items) => {
      await new Promise(
        (resolve) =>
          (answer = () => {
            resolve(undefined);
          }),
      );
      return doubled(items);
    });
    const first = group.submit(itemOf('a', 1), PATIENCE);
    const late = group.submit(itemOf('b', 2), PATIENCE);
    const times = [2_000, 500];
    clock.nowMs = () => times.shift() ?? 500;
    await expect(late).rejects.toBeInstanceOf(NotCommitted);
    answer();
    expect(await first).toBe(2);
  });

  it('reports an unknown outcome after the deadline, and never retries', async () => {
    const { group, batches, clock } = groupOver(() => {
      clock.ms += 600;
      return Promise.reject(new Contention());
    });
    const result = group.submit(itemOf('a', 1), PATIENCE);
    await expect(result).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(result).rejects.not.toBeInstanceOf(NotCommitted);
    expect(batches).toHaveLength(2);
  });

  it('reports that an item is not committed when every try was rolled back', async () => {
    const { group, batches, clock } = groupOver(() => {
      clock.ms += 600;
      return Promise.reject(new RolledBack());
    });
    await expect(group.submit(itemOf('a', 1), PATIENCE)).rejects.toBeInstanceOf(NotCommitted);
    expect(batches).toHaveLength(2);
  });

  it('reports an unknown outcome when a try without a response is followed by one that was rolled back', async () => {
    const { group, batches, clock } = groupOver(() => {
      clock.ms += 600;
      return Promise.reject(batches.length === 1 ? new Contention() : new RolledBack());
    });
    const result = group.submit(itemOf('a', 1), PATIENCE);
    await expect(result).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(result).rejects.not.toBeInstanceOf(NotCommitted);
  });

  it('reports an unknown outcome when a failed try is followed by a locked account', async () => {
    let tries = 0;
    const { group, clock } = groupOver(() => {
      tries += 1;
      if (tries === 1) return Promise.reject(new Contention());
      clock.ms += 2_000;
      return Promise.resolve([undefined]);
    });
    const result = group.submit(itemOf('a', 1), PATIENCE);
    await expect(result).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(result).rejects.not.toBeInstanceOf(NotCommitted);
    expect(tries).toBe(2);
  });

  it('reports an unknown outcome when a failed try is followed by a permanent failure', async () => {
    const bad = new Error('refused');
    const { group, clock } = groupOver(async (items) => {
      await tick();
      if (items.length === 1) return doubled(items);
      if (clock.ms === 0) {
        clock.ms = 600;
        throw new Contention();
      }
      clock.ms = 2_000;
      throw bad;
    });
    const first = group.submit(itemOf('a', 1), PATIENCE);
    const others = [2, 3].map((n) => group.submit(itemOf('a', n), PATIENCE));
    expect(await first).toBe(2);
    for (const result of await Promise.allSettled(others)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } });
      expect(result).not.toHaveProperty('reason', expect.any(NotCommitted));
    }
  });

  it('refuses an item that waited past its deadline without sending it', async () => {
    const { group, batches, clock } = groupOver(async (items) => {
      await tick();
      clock.ms += 2_000;
      return doubled(items);
    });
    const first = group.submit(itemOf('a', 1), PATIENCE);
    await expect(group.submit(itemOf('a', 2), PATIENCE)).rejects.toBeInstanceOf(NotCommitted);
    expect(await first).toBe(2);
    expect(batches).toEqual([[1]]);
  });

  it('fails only the bad item of a batch', async () => {
    const bad = new Error('refused');
    const { group } = groupOver(async (items) => {
      await tick();
      if (items.some((item) => item.n === 3)) throw bad;
      return doubled(items);
    });
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map((n) => group.submit(itemOf(n < 3 ? 'a' : 'ba', n), PATIENCE)),
    );
    expect(results).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'fulfilled', value: 4 },
      { status: 'rejected', reason: bad },
      { status: 'fulfilled', value: 8 },
    ]);
  });

  it('finds one bad item among 256 accounts by bisection, with one or two statements per half', async () => {
    const bad = new Error('refused');
    const { group, batches } = groupOver(async (items) => {
      await tick();
      if (items.some((item) => item.n === 100)) throw bad;
      return doubled(items);
    });
    const results = await Promise.allSettled(
      numbers(MAX_BATCH + 1).map((n) => group.submit(itemOf(`${n}`, n), PATIENCE)),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(results[100]).toEqual({ status: 'rejected', reason: bad });
    expect(batches).toHaveLength(2 + 2 * Math.log2(MAX_BATCH));
  });
});
