import { describe, expect, it } from '@jest/globals';
import { Clock } from '../common/time/clock.js';
import { GroupCommit, MAX_BATCH, MAX_QUEUED_PER_ACCOUNT, NeverTried } from './group-commit.js';

const PATIENCE = { patienceMs: 1_000, isEnd: false };
const END = { patienceMs: 1_000, isEnd: true };

class ManualClock extends Clock {
  ms = 0;
  nowMs(): number {
    return this.ms;
  }
}

class Contention extends Error {}

interface Item {
  readonly accountId: string;
  readonly n: number;
}
const of = (accountId: string, n: number): Item => ({ accountId, n });
const numbers = (length: number) => Array.from({ length }, (_, n) => n);

/** A group commit whose statements `commit` answers; `batches` lists the items of each. */
function groupOver(
  commit: (items: readonly Item[], waits: boolean) => Promise<(number | undefined)[]>,
) {
  const batches: number[][] = [];
  const clock = new ManualClock();
  const group = new GroupCommit<Item, number>({
    commit: (items, waits) => {
      batches.push(items.map((item) => item.n));
      return commit(items, waits);
    },
    isTransient: (error) => error instanceof Contention,
    clock,
  });
  return { group, batches, clock };
}

const doubled = (items: readonly Item[]): number[] => items.map((item) => item.n * 2);
const tick = () => new Promise((resolve) => setImmediate(resolve));
const slowly = async (items: readonly Item[]): Promise<number[]> => {
  await tick();
  return doubled(items);
};

describe('GroupCommit', () => {
  it('sends an item to an idle lane alone and the rest together', async () => {
    const { group, batches } = groupOver(slowly);
    const results = await Promise.all([1, 2, 3, 4].map((n) => group.submit(of('a', n), PATIENCE)));
    expect(results).toEqual([2, 4, 6, 8]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  it('carries many accounts in one statement', async () => {
    const { group, batches } = groupOver(slowly);
    // Names with the same ending share a lane.
    await Promise.all(numbers(41).map((n) => group.submit(of(`${n}a`, n), PATIENCE)));
    expect(batches).toEqual([[0], numbers(41).slice(1)]);
  });

  it('puts at most 256 items into a batch', async () => {
    const { group, batches } = groupOver((items) => Promise.resolve(doubled(items)));
    await Promise.all(numbers(600).map((n) => group.submit(of('a', n), PATIENCE)));
    expect(batches.map((batch) => batch.length)).toEqual([1, MAX_BATCH, MAX_BATCH, 87]);
  });

  it('shares a batch between the accounts that wait, ends of calls first', async () => {
    const { group, batches } = groupOver(slowly);
    const first = group.submit(of('a', -1), PATIENCE);
    const flood = numbers(1_000).map((n) => group.submit(of('a', n), PATIENCE));
    const other = [2_000, 2_001].map((n) => group.submit(of('ba', n), PATIENCE));
    const end = group.submit(of('a', 3_000), END);
    await Promise.all([first, ...flood, ...other, end]);
    expect(batches[1]).toEqual(expect.arrayContaining([2_000, 2_001, 3_000]));
    expect(batches[1]![0]).toBe(3_000);
  });

  it('tries a batch again after contention', async () => {
    let tries = 0;
    const { group } = groupOver((items) => {
      tries += 1;
      return tries < 3 ? Promise.reject(new Contention()) : Promise.resolve(doubled(items));
    });
    expect(await group.submit(of('a', 21), PATIENCE)).toBe(42);
    expect(tries).toBe(3);
  });

  it('reports an unknown outcome once patience is over, and never tries again', async () => {
    const { group, batches, clock } = groupOver(() => {
      clock.ms += 600;
      return Promise.reject(new Contention());
    });
    const result = group.submit(of('a', 1), PATIENCE);
    await expect(result).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(result).rejects.not.toBeInstanceOf(NeverTried);
    expect(batches).toHaveLength(2);
  });

  it('reports an unknown outcome where a failed try is followed by a locked account', async () => {
    let tries = 0;
    const { group, clock } = groupOver(() => {
      tries += 1;
      if (tries === 1) return Promise.reject(new Contention());
      clock.ms += 2_000;
      return Promise.resolve([undefined]);
    });
    const result = group.submit(of('a', 1), PATIENCE);
    await expect(result).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(result).rejects.not.toBeInstanceOf(NeverTried);
    expect(tries).toBe(2);
  });

  it('reports an unknown outcome where a failed try is followed by a batch that fails for good', async () => {
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
    const first = group.submit(of('a', 1), PATIENCE);
    const others = [2, 3].map((n) => group.submit(of('a', n), PATIENCE));
    expect(await first).toBe(2);
    for (const result of await Promise.allSettled(others)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'service_unavailable' } });
      expect(result).not.toHaveProperty('reason', expect.any(NeverTried));
    }
  });

  it('refuses an item that waited too long without trying it', async () => {
    const { group, batches, clock } = groupOver(async (items) => {
      await tick();
      clock.ms += 2_000;
      return doubled(items);
    });
    const first = group.submit(of('a', 1), PATIENCE);
    await expect(group.submit(of('a', 2), PATIENCE)).rejects.toBeInstanceOf(NeverTried);
    expect(await first).toBe(2);
    expect(batches).toEqual([[1]]);
  });

  it('lets one bad item of a batch fail alone', async () => {
    const bad = new Error('refused');
    const { group } = groupOver(async (items) => {
      await tick();
      if (items.some((item) => item.n === 3)) throw bad;
      return doubled(items);
    });
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map((n) => group.submit(of(n < 3 ? 'a' : 'ba', n), PATIENCE)),
    );
    expect(results).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'fulfilled', value: 4 },
      { status: 'rejected', reason: bad },
      { status: 'fulfilled', value: 8 },
    ]);
  });

  it('finds one bad item among 256 accounts by halves, in a statement or two for each', async () => {
    const bad = new Error('refused');
    const { group, batches } = groupOver(async (items) => {
      await tick();
      if (items.some((item) => item.n === 100)) throw bad;
      return doubled(items);
    });
    const results = await Promise.allSettled(
      numbers(MAX_BATCH + 1).map((n) => group.submit(of(`${n}`, n), PATIENCE)),
    );
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
    expect(results[100]).toEqual({ status: 'rejected', reason: bad });
    expect(batches).toHaveLength(2 + 2 * Math.log2(MAX_BATCH));
  });

  it('waits for an account locked elsewhere in a statement of its own, and the lane goes on', async () => {
    let unlock = (): void => undefined;
    const locked = new Promise<void>((resolve) => (unlock = resolve));
    const { group } = groupOver(async (items, waits) => {
      await tick();
      if (waits) await locked;
      return items.map(({ accountId, n }) => (accountId === 'a' && !waits ? undefined : n * 2));
    });
    const stuck = [1, 2].map((n) => group.submit(of('a', n), PATIENCE));
    expect(await Promise.all([3, 4].map((n) => group.submit(of('ba', n), PATIENCE)))).toEqual([
      6, 8,
    ]);
    const later = group.submit(of('a', 5), PATIENCE);
    expect(await group.submit(of('ba', 6), PATIENCE)).toBe(12);
    unlock();
    expect(await Promise.all([...stuck, later])).toEqual([2, 4, 10]);
  });

  it('refuses beginnings of an account that has too many waiting; ends and other accounts go on', async () => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { group } = groupOver(async (items) => {
      await gate;
      return doubled(items);
    });
    const waiting = numbers(MAX_QUEUED_PER_ACCOUNT + 1).map((n) =>
      group.submit(of('a', n), PATIENCE),
    );
    const refused = group.submit(of('a', 1), PATIENCE);
    await expect(refused).rejects.toBeInstanceOf(NeverTried);
    await expect(refused).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
    const others = [group.submit(of('a', 7), END), group.submit(of('ba', 8), PATIENCE)];
    open();
    expect(await Promise.all(others)).toEqual([14, 16]);
    expect(await Promise.all(waiting)).toHaveLength(MAX_QUEUED_PER_ACCOUNT + 1);
  });

  it('counts what waits for a statement, without accounts that others have locked', async () => {
    let unlock: () => void = () => undefined;
    const unlocked = new Promise<void>((resolve) => (unlock = resolve));
    const { group } = groupOver(async (items, waits) => {
      if (waits) await unlocked;
      else await tick();
      return items.map(({ accountId, n }) => (accountId === 'locked' && !waits ? undefined : n));
    });
    const stuck = [group.submit(of('locked', 0), PATIENCE)];
    for (let turn = 0; turn < 5; turn += 1) await tick();
    stuck.push(...[1, 2, 3].map((n) => group.submit(of('locked', n), PATIENCE)));
    expect(group.ready).toMatchObject({ readyStarts: 0, readyAccounts: 0 });
    const others = [1, 2, 3].map((n) => group.submit(of(n === 1 ? 'a' : 'b', n), PATIENCE));
    const { readyStarts, readyAccounts } = group.ready;
    const ofAccounts = ['a', 'b', 'locked'].map((account) => group.ready.readyStartsOf(account));
    // The first one may be under way.
    expect([
      [0, 2, 0],
      [1, 2, 0],
    ]).toContainEqual(ofAccounts);
    expect(readyStarts).toBe(ofAccounts.reduce((sum, count) => sum + count));
    expect(readyAccounts).toBe(ofAccounts.filter((count) => count > 0).length);
    await Promise.all(others);
    unlock();
    expect(await Promise.all(stuck)).toEqual([0, 1, 2, 3]);
    expect(group.ready).toMatchObject({ readyStarts: 0, readyAccounts: 0 });
  });
});
