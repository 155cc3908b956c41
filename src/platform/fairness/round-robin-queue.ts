/** Waiting items by account. Accounts are served round-robin; within an account the order is that of arrival. */
export class RoundRobinQueue<T> {
  /** The first account is served next. No queue is empty. */
  private readonly queues = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  /** All waiting items. */
  get items(): T[] {
    return [...this.queues.values()].flat();
  }

  add(accountId: string, item: T): void {
    const queue = this.queues.get(accountId);
    if (queue) queue.push(item);
    else this.queues.set(accountId, [item]);
  }

  /** Removes and returns the next item; undefined if nothing waits. */
  next(): T | undefined {
    const [first] = this.queues;
    if (first === undefined) return undefined;
    const [accountId, queue] = first;
    const item = queue.shift();
    // The account moves to the end.
    this.queues.delete(accountId);
    if (queue.length > 0) this.queues.set(accountId, queue);
    return item;
  }

  /** Removes an item; does nothing if it is not waiting. */
  remove(accountId: string, item: T): void {
    const queue = this.queues.get(accountId);
    const index = queue?.indexOf(item) ?? -1;
    if (queue && index >= 0) queue.splice(index, 1);
    if (queue?.length === 0) this.queues.delete(accountId);
  }
}
