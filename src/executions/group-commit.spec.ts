import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Clock } from '../common/time/clock.js';
import { GroupCommit, MAX_BATCH, MAX_QUEUED, OutcomeUnknown } from './group-commit.js';

const PATIENCE_MS = 1_000;

class ManualClock extends Clock {
  ms = 0;
  nowMs(): number {
    return this.ms;
  }
}

class Contention extends Error {}

/** A lane whose commits are answered by `commit`; `batches` lists what each carried. */
function laneOver(commit: (items: readonly number[]) => Promise<number[]>) {
  const batches: number[][] = [];
  const clock = new ManualClock();
  const lane = new GroupCommit<number, number>({
    commit: (_accountId, items) => {
      batches.push([...items]);
      return commit(items);
    },
    isTransient: (error) => error instanceof Contention,
    clock,
  });
  return { lane, batches, clock };
}

const doubled = (items: readonly number[]): number[] => items.map((item) => item * 2);
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('GroupCommit', () => {
  it('sends an item to an idle account alone and the rest together', async () => {
    const { lane, batches } = laneOver(async (items) => {
      await tick();
      return doubled(items);
    });
    const results = await Promise.all([1, 2, 3, 4].map((n) => lane.submit('a', n, PATIENCE_MS)));
    expect(results).toEqual([2, 4, 6, 8]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  it('has one statement of an account under way and several accounts at once', async () => {
    const underWay = new Map<string, number>();
    let most = 0;
    const lane = new GroupCommit<number, number>({
      commit: async (accountId, items) => {
        underWay.set(accountId, (underWay.get(accountId) ?? 0) + 1);
        expect(underWay.get(accountId)).toBe(1);
        most = Math.max(most, [...underWay.values()].filter((count) => count > 0).length);
        await tick();
        underWay.set(accountId, 0);
        return doubled(items);
      },
      isTransient: () => false,
      clock: new ManualClock(),
    });
    const jobs = Array.from({ length: 200 }, (_, n) =>
      lane.submit(`account ${n % 20}`, n, PATIENCE_MS),
    );
    expect(await Promise.all(jobs)).toEqual(Array.from({ length: 200 }, (_, n) => n * 2));
    expect(most).toBe(12);
  });

  it('puts at most 256 items into a batch', async () => {
    const { lane, batches } = laneOver((items) => Promise.resolve(doubled(items)));
    await Promise.all(Array.from({ length: 600 }, (_, n) => lane.submit('a', n, PATIENCE_MS)));
    expect(batches.map((batch) => batch.length)).toEqual([1, MAX_BATCH, MAX_BATCH, 87]);
  });

  it('tries a batch again after contention', async () => {
    let tries = 0;
    const { lane } = laneOver((items) => {
      tries += 1;
      return tries < 3 ? Promise.reject(new Contention()) : Promise.resolve(doubled(items));
    });
    expect(await lane.submit('a', 21, PATIENCE_MS)).toBe(42);
    expect(tries).toBe(3);
  });

  it('reports an unknown outcome once patience is over, and never tries again', async () => {
    const { lane, batches, clock } = laneOver(() => {
      clock.ms += 600;
      return Promise.reject(new Contention());
    });
    await expect(lane.submit('a', 1, PATIENCE_MS)).rejects.toBeInstanceOf(OutcomeUnknown);
    expect(batches).toHaveLength(2);
  });

  it('refuses an item that waited too long without trying it', async () => {
    const { lane, batches, clock } = laneOver(async (items) => {
      await tick();
      clock.ms += 2_000;
      return doubled(items);
    });
    const first = lane.submit('a', 1, PATIENCE_MS);
    const late = lane.submit('a', 2, PATIENCE_MS);
    await expect(late).rejects.toMatchObject({ code: 'service_unavailable' });
    await expect(late).rejects.not.toBeInstanceOf(OutcomeUnknown);
    expect(await first).toBe(2);
    expect(batches).toEqual([[1]]);
  });

  it('lets one bad item of a batch fail alone', async () => {
    const bad = new Error('refused');
    const { lane } = laneOver(async (items) => {
      await tick();
      if (items.includes(3)) throw bad;
      return doubled(items);
    });
    const results = await Promise.allSettled(
      [1, 2, 3, 4].map((n) => lane.submit('a', n, PATIENCE_MS)),
    );
    expect(results).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'fulfilled', value: 4 },
      { status: 'rejected', reason: bad },
      { status: 'fulfilled', value: 8 },
    ]);
  });

  it('refuses at once when the queue is full', async () => {
    let open: (() => void) | undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const { lane } = laneOver(async (items) => {
      await gate;
      return doubled(items);
    });
    const queued = Array.from({ length: MAX_QUEUED }, (_, n) => lane.submit('a', n, PATIENCE_MS));
    const refused = lane.submit('b', 1, PATIENCE_MS);
    await expect(refused).rejects.toBeInstanceOf(GatewayError);
    await expect(refused).rejects.toMatchObject({ status: 503, retryAfterSeconds: 1 });
    open?.();
    expect(await Promise.all(queued)).toHaveLength(MAX_QUEUED);
  });
});
