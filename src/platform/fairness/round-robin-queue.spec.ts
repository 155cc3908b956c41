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
  it('returns one item of each account at a time, in the order of arrival', () => {
    expect(rest(waiting('a1', 'a2', 'a3', 'b1', 'c1', 'c2'))).toEqual([
      'a1',
      'b1',
      'c1',
      'a2',
      'c2',
      'a3',
    ]);
  });

  it('puts an account that adds an item behind the waiting accounts', () => {
    const queue = waiting('a1', 'b1');
    expect(queue.next()).toBe('a1');
    queue.add('a', 'a2');
    expect(queue.items).toEqual(['b1', 'a2']);
    expect(rest(queue)).toEqual(['b1', 'a2']);
    expect(queue.isEmpty).toBe(true);
  });

  it('drops removed items and empty accounts', () => {
    const queue = waiting('a1', 'b1', 'b2');
    queue.remove('a', 'a1');
    queue.remove('b', 'b1');
    queue.remove('b', 'unknown');
    queue.remove('c', 'c1');
    expect(rest(queue)).toEqual(['b2']);
  });
});

interface Job {
  readonly bucket: string;
  left: number;
}

/** A new job of a bucket with so many requests, or the end of the n-th request in progress. */
const jobs = fc.array(
  fc.oneof(
    fc.record({
      bucket: fc.constantFrom('a', 'b', 'c', 'd'),
      left: fc.integer({ min: 1, max: 4 }),
    }),
    fc.nat(10),
  ),
  { maxLength: 100 },
);

/** How the pool that measures files has chosen: as in its former class. */
class FormerDurationQueue {
  private readonly waiting = new Map<string, Job[]>();
  readonly runningOf = new Map<string, number>();

  add(job: Job): void {
    const own = this.waiting.get(job.bucket) ?? [];
    own.push(job);
    this.waiting.set(job.bucket, own);
  }

  next(limit: number): Job | undefined {
    let next: string | undefined;
    let fewest = limit;
    for (const bucket of this.waiting.keys()) {
      const running = this.runningOf.get(bucket) ?? 0;
      if (running >= fewest) continue;
      next = bucket;
      fewest = running;
    }
    if (next === undefined) return undefined;
    const own = this.waiting.get(next) ?? [];
    const job = own.shift();
    this.waiting.delete(next);
    if (own.length > 0) this.waiting.set(next, own);
    return job;
  }
}

/** How the counter of tokens has chosen: as in its former class, where a job waited until its last slice was counted. */
class FormerTokenQueue {
  private readonly queues = new Map<string, Job[]>();

  add(job: Job): void {
    const queue = this.queues.get(job.bucket);
    if (queue === undefined) this.queues.set(job.bucket, [job]);
    else queue.push(job);
  }

  jobsOf(bucket: string): Job[] | undefined {
    return this.queues.get(bucket);
  }

  next(): Job | undefined {
    const [next] = this.queues;
    if (next === undefined) return undefined;
    const [bucket, queue] = next;
    this.queues.delete(bucket);
    this.queues.set(bucket, queue);
    return queue[0];
  }

  counted(job: Job): void {
    job.left -= 1;
    if (job.left > 0) return;
    const queue = this.queues.get(job.bucket) ?? [];
    queue.splice(queue.indexOf(job), 1);
    if (queue.length === 0) this.queues.delete(job.bucket);
  }
}

describe('RoundRobinQueue with loads', () => {
  it.each([1, 2, 3])('chooses as the former pool with %i threads per account', (limit) => {
    fc.assert(
      fc.property(jobs, (history) => {
        const former = new FormerDurationQueue();
        const queue = new RoundRobinQueue<Job>();
        const running = new BucketCounts();
        const inProgress: Job[] = [];
        for (const event of history) {
          if (typeof event === 'object') {
            former.add(event);
            queue.add(event.bucket, event);
          } else {
            const [ended] = inProgress.splice(event % Math.max(1, inProgress.length), 1);
            if (ended) {
              running.add(ended.bucket, -1);
              former.runningOf.set(ended.bucket, running.of(ended.bucket));
            }
          }
          if (inProgress.length === 3) continue;
          const next = queue.nextOfLeast((bucket) => running.of(bucket), limit);
          expect(next).toBe(former.next(limit));
          if (next === undefined) continue;
          inProgress.push(next);
          running.add(next.bucket);
          former.runningOf.set(next.bucket, running.of(next.bucket));
        }
      }),
    );
  });

  /** The former one served an account twice in a row whose next text came while its last slice was counted. */
  it('chooses as the former counter of tokens, except that no account is served twice in a row while others wait', () => {
    fc.assert(
      fc.property(jobs, (history) => {
        const former = new FormerTokenQueue();
        const queue = new RoundRobinQueue<Job>();
        let current: { job: Job; formerJob: Job } | undefined;
        let arrivedMeanwhile: Job[] = [];
        for (const event of history) {
          if (typeof event === 'object') {
            const isLast =
              current?.formerJob.left === 1 && former.jobsOf(event.bucket)?.length === 1;
            if (isLast && current?.job.bucket === event.bucket) arrivedMeanwhile.push(event);
            else if (arrivedMeanwhile.length > 0) arrivedMeanwhile.push(event);
            else former.add({ ...event });
            queue.add(event.bucket, { ...event });
          } else if (current) {
            former.counted(current.formerJob);
            for (const job of arrivedMeanwhile) former.add({ ...job });
            arrivedMeanwhile = [];
            current = undefined;
          }
          if (current) continue;
          const [job, formerJob] = [queue.nextOfLeast(() => 0, 1), former.next()];
          expect(job?.bucket).toBe(formerJob?.bucket);
          if (!job || !formerJob) continue;
          expect(job.left).toBe(formerJob.left);
          job.left -= 1;
          if (job.left > 0) queue.putBack(job.bucket, job);
          current = { job, formerJob };
        }
      }),
    );
  });
});
