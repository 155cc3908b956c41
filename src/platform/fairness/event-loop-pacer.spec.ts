import { setImmediate as nextIteration } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EventLoopPacer } from './event-loop-pacer.js';

const PER_ITERATION = 4;
const BUCKETS = ['a', 'b', 'c'];

/** A callback that began: its number, in the order of arrival, and the iteration. */
interface Begun {
  readonly id: number;
  readonly bucket: string;
  readonly iteration: number;
}

/** The buckets of the callbacks that arrive in each iteration. */
type History = readonly (readonly string[])[];

const histories = fc.array(fc.array(fc.constantFrom(...BUCKETS), { maxLength: 20 }), {
  maxLength: 12,
});

/** What a pacer does with the arrivals of each iteration. */
async function beginsOf(history: History): Promise<Begun[]> {
  const pacer = new EventLoopPacer(PER_ITERATION);
  const begun: Begun[] = [];
  let arrived = 0;
  let iteration = 0;
  for (; iteration < history.length || begun.length < arrived; iteration += 1) {
    for (const bucket of history[iteration] ?? []) {
      const id = arrived++;
      const begin = (): void => void begun.push({ id, bucket, iteration });
      if (pacer.mayBegin()) begin();
      else pacer.wait(bucket, begin);
    }
    await nextIteration();
  }
  return begun;
}

const idsOf = (begun: readonly Begun[]): number[] => begun.map(({ id }) => id);

describe('EventLoopPacer', () => {
  it('begins what arrives while nothing waits at once, up to the limit', async () => {
    const arrivals = Array.from({ length: PER_ITERATION }, () => 'a');
    const begun = await beginsOf([arrivals, [], arrivals]);
    expect(begun.map(({ iteration }) => iteration)).toEqual([0, 0, 0, 0, 2, 2, 2, 2]);
  });

  it('begins as many as the limit in each iteration, and each bucket in its order, for any arrivals', async () => {
    await fc.assert(
      fc.asyncProperty(histories, async (history) => {
        const begun = await beginsOf(history);
        for (const bucket of BUCKETS) {
          const ids = idsOf(begun.filter((one) => one.bucket === bucket));
          expect(ids).toEqual([...ids].sort((one, other) => one - other));
        }
        expect(begun.map(({ iteration }) => iteration)).toEqual(iterationsOf(history));
      }),
    );
  });

  it('begins waiting callbacks of buckets round-robin', async () => {
    const begun = await beginsOf([
      [...Array.from({ length: 100 }, () => 'a'), ...Array.from({ length: 8 }, () => 'b')],
    ]);
    const waited = begun.slice(PER_ITERATION).map(({ bucket }) => bucket);
    expect(waited.slice(0, 16)).toEqual(Array.from({ length: 8 }, () => ['a', 'b']).flat());
    expect(new Set(waited.slice(16))).toEqual(new Set(['a']));
  });

  it('begins callbacks that wait although nothing began before, and later ones after them', async () => {
    const pacer = new EventLoopPacer(1);
    const begun: number[] = [];
    pacer.wait('a', () => begun.push(1));
    expect(pacer.mayBegin()).toBe(false);
    pacer.wait('a', () => begun.push(2));
    await nextIteration();
    expect(begun).toEqual([1]);
    await nextIteration();
    expect(begun).toEqual([1, 2]);
  });
});

/**
 * The iteration in which the n-th callback begins. At the end of each iteration up to the limit of those that wait
 * begin, and then nobody else until the end of the next one; otherwise up to the limit begin at once.
 */
function iterationsOf(history: History): number[] {
  const begun: number[] = [];
  let waiting = 0;
  let left = PER_ITERATION;
  for (let iteration = 0; iteration < history.length || waiting > 0; iteration += 1) {
    const arrivals = history[iteration]?.length ?? 0;
    const atOnce = Math.min(arrivals, left);
    waiting += arrivals - atOnce;
    const atEnd = Math.min(waiting, PER_ITERATION);
    waiting -= atEnd;
    left = atEnd > 0 ? 0 : PER_ITERATION;
    begun.push(...Array.from({ length: atOnce + atEnd }, () => iteration));
  }
  return begun;
}
