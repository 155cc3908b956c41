import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BucketCounts } from './bucket-counts.js';
import { RoundRobinQueue } from './round-robin-queue.js';

function waiting(...names: string[]): RoundRobinQueue<string> {
  const queue = new RoundRobinQueue<string>();
  for (const name of names) queue.add(name.charAt(0), name);
  return queue;
}

const rest = (queue: RoundRobinQueue<string>): string[] => {
  const items: string[] = [];
  for (;;) {
    const item = queue.next();
    if (item === undefined) return items;
    items.push(item);
  }
};

describe('RoundRobinQueue', () => {
  it('returns one item of each bucket at a time, in the order of arrival', () => {
    expect(rest(waiting('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual([
      'a1',
      'b1',
      'c1',
      'a2',
      'c2',
      'a3',
    ]);
  });

  it('puts a bucket that adds an item behind the waiting buckets', () => {
    const queue = waiting('a1', 'b1');
    expect(queue.next()).toBe('a1');
    queue.add('a', 'a2');
    expect(queue.items).toEqual(['b1', 'a2']);
    expect(rest(queue)).toEqual(['b1', 'a2']);
  });

  it('drops removed items and empty buckets', () => {
    const queue = waiting('a1', 'b1', 'b2');
    queue.remove('a', 'a1');
    queue.remove('b', 'b1');
    queue.remove('b', 'unknown');
    queue.remove('c', 'c1');
    expect(rest(queue)).toEqual(['b2']);
  });
});

/** Buckets that wait, in the order in which they are served, and how many items each has. */
type Waiting = { bucket: string; items: number[] }[];

/** An item of a bucket that arrives, or the end of the n-th item in progress. */
const histories = fc.array(fc.oneof(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(10)), {
  maxLength: 100,
});

/** The bucket with the least load, of equals the first; it moves to the end. */
function nextOf(waiting: Waiting, loadOf: (bucket: string) => number, limit: number) {
  const least = Math.min(...waiting.map(({ bucket }) => loadOf(bucket)));
  const index = waiting.findIndex(({ bucket }) => loadOf(bucket) === least);
  if (index < 0 || least >= limit) return undefined;
  const [chosen] = waiting.splice(index, 1);
  const item = chosen?.items.shift();
  if (chosen && chosen.items.length > 0) waiting.push(chosen);
  return item;
}

describe('RoundRobinQueue with loads', () => {
  it.each([1, 2, 3])('chooses the bucket with the least load below %i for any history', (limit) => {
    fc.assert(
      fc.property(histories, fc.boolean(), (history, isPutBack) => {
        const queue = new RoundRobinQueue<number>();
        const waiting: Waiting = [];
        const bucketOf = new Map<number, string>();
        const running = new BucketCounts();
        const inProgress: number[] = [];
        const loadOf = (bucket: string): number => running.of(bucket);
        history.forEach((event, item) => {
          if (typeof event === 'string') {
            bucketOf.set(item, event);
            queue.add(event, item);
            const own = waiting.find(({ bucket }) => bucket === event);
            if (own) own.items.push(item);
            else waiting.push({ bucket: event, items: [item] });
          } else {
            const [ended] = inProgress.splice(event % Math.max(1, inProgress.length), 1);
            if (ended !== undefined) running.add(bucketOf.get(ended) ?? '', -1);
          }
          const next = queue.nextOfLeast(loadOf, limit);
          expect(next).toBe(nextOf(waiting, loadOf, limit));
          if (next === undefined) return;
          const bucket = bucketOf.get(next) ?? '';
          inProgress.push(next);
          running.add(bucket);
          // Every other item needs a second time.
          if (!isPutBack || next % 2 === 0) return;
          queue.putBack(bucket, next);
          const own = waiting.find((another) => another.bucket === bucket);
          if (own) own.items.unshift(next);
          else waiting.push({ bucket, items: [next] });
        });
        expect([...queue.items].sort()).toEqual(waiting.flatMap(({ items }) => items).sort());
      }),
    );
  });
});
