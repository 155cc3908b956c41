import { RoundRobinQueue } from './round-robin-queue.js';

/**
 * Runs a bounded number of callbacks in each iteration of the event loop, so that a burst delays nothing else by more
 * than that. The others wait for the next iterations; their buckets are served round-robin.
 */
export class EventLoopPacer {
  private readonly waiting = new RoundRobinQueue<() => void>();
  /** Callbacks of the current iteration. Above 0 the next iteration is scheduled. */
  private begun = 0;

  /** @param perIteration Most callbacks in one iteration. */
  constructor(private readonly perIteration: number) {}

  /** Whether the caller may go on in this iteration; counts it if so. If not, it has to {@link wait}. */
  mayBegin(): boolean {
    if (this.begun >= this.perIteration) return false;
    if (this.begun === 0) setImmediate(this.nextIteration);
    this.begun += 1;
    return true;
  }

  /** Calls `begin` in a later iteration. Whoever asks {@link mayBegin} before then has to wait behind it. */
  wait(bucket: string, begin: () => void): void {
    if (this.begun === 0) setImmediate(this.nextIteration);
    this.begun = this.perIteration;
    this.waiting.add(bucket, begin);
  }

  private readonly nextIteration = (): void => {
    const due = this.waiting.take(this.perIteration);
    this.begun = due.length === 0 ? 0 : this.perIteration;
    if (due.length === 0) return;
    setImmediate(this.nextIteration);
    run(due);
  };
}

/** Calls them all. After an error, which is not caught here, the rest is called in the next iteration. */
function run(callbacks: readonly (() => void)[]): void {
  let called = 0;
  try {
    for (const callback of callbacks) {
      called += 1;
      callback();
    }
  } finally {
    if (called < callbacks.length) setImmediate(run, callbacks.slice(called));
  }
}
