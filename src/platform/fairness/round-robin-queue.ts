/**
 * Waiting items by fairness bucket (an account, a key, a priority). Buckets are served round-robin; within a bucket the
 * order is that of arrival.
 */
export class RoundRobinQueue<T> {
  /** The first bucket is served next. No queue is empty. */
  private readonly queues = new Map<string, T[]>();

  /** All waiting items. */
  get items(): T[] {
    return [...this.queues.values()].flat();
  }

  /** Adds an item at the end of its bucket. */
  add(bucket: string, item: T): void {
    const queue = this.queues.get(bucket);
    if (queue) queue.push(item);
    else this.queues.set(bucket, [item]);
  }

  /** Returns an item that was not finished to the front of its bucket, which keeps its place among the buckets. */
  putBack(bucket: string, item: T): void {
    const queue = this.queues.get(bucket);
    if (queue) queue.unshift(item);
    else this.queues.set(bucket, [item]);
  }

  /** Removes and returns the next item; undefined if nothing waits. */
  next(): T | undefined {
    const first = this.queues.keys().next();
    return first.done ? undefined : this.shift(first.value);
  }

  /**
   * Removes and returns the next item of the bucket with the least load; among equals, of the one that is served next.
   * Undefined if every waiting bucket has the load `limit` or more.
   */
  nextOfLeast(loadOf: (bucket: string) => number, limit: number): T | undefined {
    let next: string | undefined;
    let least = limit;
    for (const bucket of this.queues.keys()) {
      const load = loadOf(bucket);
      if (load >= least) continue;
      next = bucket;
      least = load;
      if (load === 0) break;
    }
    return next === undefined ? undefined : this.shift(next);
  }

  /** Removes and returns the next items, at most `limit`. */
  take(limit: number): T[] {
    const taken: T[] = [];
    while (taken.length < limit) {
      const item = this.next();
      if (item === undefined) break;
      taken.push(item);
    }
    return taken;
  }

  /** The newest item of a bucket, which keeps waiting; undefined if the bucket has none. */
  newestOf(bucket: string): T | undefined {
    return this.queues.get(bucket)?.at(-1);
  }

  /** Removes an item; does nothing if it is not waiting. */
  remove(bucket: string, item: T): void {
    const queue = this.queues.get(bucket);
    const index = queue?.indexOf(item) ?? -1;
    if (queue && index >= 0) queue.splice(index, 1);
    if (queue?.length === 0) this.queues.delete(bucket);
  }

  /** The next item of a bucket, which moves to the end of the buckets. */
  private shift(bucket: string): T | undefined {
    const queue = this.queues.get(bucket);
    const item = queue?.shift();
    const isOnly = this.queues.size === 1;
    if (queue === undefined || (isOnly && queue.length > 0)) return item;
    this.queues.delete(bucket);
    if (queue.length > 0) this.queues.set(bucket, queue);
    return item;
  }
}
