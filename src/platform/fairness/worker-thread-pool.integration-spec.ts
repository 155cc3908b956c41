import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ThreadPoolSettings, WorkerThreadPool } from './worker-thread-pool.js';

/** A request of the test thread. With a gate it is answered when the gate opens. */
interface Request {
  readonly does?: 'throw' | 'exit' | 'spin' | 'fill';
  readonly value?: string;
  readonly gate?: Int32Array<SharedArrayBuffer>;
}

const PATIENCE_MS = 60_000;
/** It speaks as `answerRequests` does: ready, then a response to each request. */
const THREAD = `
  import { parentPort } from 'node:worker_threads';
  import { readlinkSync } from 'node:fs';
  parentPort.on('message', ({ does, value, gate }) => {
    if (gate) Atomics.wait(gate, 0, 0);
    if (does === 'throw') throw new Error('as asked');
    if (does === 'exit') process.exit();
    while (does === 'spin');
    for (const all = []; does === 'fill'; ) all.push(new Array(10_000).fill(all.length));
    parentPort.postMessage(value);
  });
  parentPort.postMessage(Number(readlinkSync('/proc/thread-self').split('/').at(-1)));
`;
const SETTINGS: ThreadPoolSettings = {
  file: new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`),
  threads: 2,
  threadsPerBucket: 1,
  waiting: 8,
  waitingPerBucket: 4,
  rejects: 'new',
  timeoutMs: PATIENCE_MS,
};

function newGate() {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const open = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  return { gate, open };
}

describe('WorkerThreadPool', () => {
  let pools: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.stop()));
    pools = [];
  });
  const poolOf = (settings: Partial<ThreadPoolSettings> = {}) => {
    const pool = new WorkerThreadPool<Request, string>({ ...SETTINGS, ...settings });
    pools.push(pool);
    return pool;
  };

  it('answers every request of any jobs, each at its place', async () => {
    const anyJobs = fc.array(
      fc.record({
        bucket: fc.constantFrom('a', 'b', 'c'),
        values: fc.array(fc.string(), { maxLength: 5 }),
      }),
      { maxLength: 20 },
    );
    const pool = poolOf({ waiting: 1_000, waitingPerBucket: 1_000, threads: 3 });
    await fc.assert(
      fc.asyncProperty(anyJobs, async (jobs) => {
        const submitted = jobs.map(({ bucket, values }) =>
          pool.submit(
            bucket,
            values.map((value) => ({ value })),
          ),
        );
        await Promise.all(submitted.map(({ done }) => done));
        expect(submitted.map(({ responses }) => responses)).toEqual(
          jobs.map(({ values }) => values),
        );
      }),
      { numRuns: 30 },
    );
  });

  it('serves other buckets between two requests of a job, with one thread', async () => {
    const pool = poolOf({ threads: 1, threadsPerBucket: 1, waitingPerBucket: 8 });
    const { gate, open } = newGate();
    const order: string[] = [];
    const note = (name: string) => () => void order.push(name);
    const first = pool.submit('a', [{ gate }, {}, {}, {}]);
    const others = [pool.run('b', {}).then(note('b')), pool.run('c', {}).then(note('c'))];
    const last = first.done.then(note('a'));
    open();
    await Promise.all([...others, last]);
    expect(order).toEqual(['b', 'c', 'a']);
  });

  it('leaves a thread free for other buckets', async () => {
    const pool = poolOf();
    const { gate, open } = newGate();
    const slow = [pool.run('a', { gate }), pool.run('a', { value: 'later' })];
    await expect(pool.run('b', { value: 'now' })).resolves.toBe('now');
    open();
    expect((await Promise.all(slow))[1]).toBe('later');
  });

  it('rejects a new job that may not wait, for its bucket and in total', async () => {
    const pool = poolOf({ threads: 1, waiting: 6 });
    const { gate, open } = newGate();
    const accepted = [pool.run('a', { gate })];
    for (const bucket of ['a', 'a', 'a', 'a', 'b', 'b']) accepted.push(pool.run(bucket, {}));
    await expect(pool.run('c', {})).rejects.toMatchObject({ fault: 'full' });
    open();
    await Promise.all(accepted);
    await expect(pool.submit('a', Array<Request>(5).fill({})).done).rejects.toMatchObject({
      fault: 'full',
    });
    await expect(pool.run('c', { value: 'again' })).resolves.toBe('again');
  });

  it('keeps room for a request that is made later, for its bucket and in total', async () => {
    const pool = poolOf({ threads: 1, waiting: 6 });
    const { gate, open } = newGate();
    const begun = pool.run('a', { gate });
    const places = ['a', 'a', 'a', 'a', 'b', 'b'].map((bucket) => pool.reserve(bucket));
    for (const bucket of ['a', 'b', 'c']) {
      expect(() => pool.reserve(bucket)).toThrow(expect.objectContaining({ fault: 'full' }));
      await expect(pool.run(bucket, {})).rejects.toMatchObject({ fault: 'full' });
    }
    const [first, unused, ...others] = places;
    const answers = [first, ...others].flatMap((place) => place?.run({ value: 'kept' }) ?? []);
    // What has run or is disposed of twice gives no room twice.
    for (const place of [first, unused, unused, first]) place?.[Symbol.dispose]();
    const last = pool.run('b', { value: 'last' });
    await expect(pool.run('b', {})).rejects.toMatchObject({ fault: 'full' });
    open();
    await begun;
    await expect(Promise.all(answers)).resolves.toEqual(Array(5).fill('kept'));
    await expect(last).resolves.toBe('last');
  });

  it('rejects the newest job of the bucket with the most waiting requests, if told so', async () => {
    const pool = poolOf({ threads: 1, waiting: 6, rejects: 'largest' });
    const { gate, open } = newGate();
    const [first, older, newest] = [
      pool.submit('a', [{ gate }, {}, {}]),
      pool.submit('b', [{}, {}]),
      pool.submit('a', [{}, {}]),
    ];
    const other = pool.run('c', { value: 'small' });
    await expect(newest.done).rejects.toMatchObject({ fault: 'full' });
    open();
    await Promise.all([first.done, older.done]);
    await expect(other).resolves.toBe('small');
  });

  it.each([
    ['throw', 'ended', {}],
    ['exit', 'ended', {}],
    ['spin', 'cpu', { cpuMs: 100 }],
    ['spin', 'late', { timeoutMs: 5_000 }],
    ['fill', 'memory', { heapMb: 32 }],
  ] as const)(
    'fails only the job whose request makes its thread %s, and replaces the thread (%s)',
    async (does, fault, limits) => {
      const pool = poolOf({ threads: 1, ...limits });
      pool.start();
      const failing = pool.submit('a', [{ value: 'first' }, { does }, { value: 'never' }]);
      const next = pool.run('a', { value: 'next' });
      await expect(failing.done).rejects.toMatchObject({ fault });
      expect(failing.responses[0]).toBe('first');
      await expect(next).resolves.toBe('next');
    },
  );

  it('drops the waiting requests of a job that is cancelled, and goes on', async () => {
    const pool = poolOf({ threads: 1 });
    const { gate, open } = newGate();
    const job = pool.submit('a', [{ gate, value: 'first' }, { does: 'throw' }]);
    pool.cancel(job);
    await expect(job.done).rejects.toMatchObject({ fault: 'cancelled' });
    const next = pool.run('a', { value: 'next' });
    open();
    await expect(next).resolves.toBe('next');
  });

  it('fails all jobs when it is stopped, and starts a thread again for a later one', async () => {
    const pool = poolOf({ threads: 1 });
    const { gate } = newGate();
    const jobs = ['a', 'b'].map((bucket) => pool.submit(bucket, [{ gate }, {}]));
    const ended = Promise.allSettled(jobs.map(({ done }) => done));
    await pool.stop();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await expect(pool.run('a', { value: 'again' })).resolves.toBe('again');
  });
});
