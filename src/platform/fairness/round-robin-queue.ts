/** What waits, by account. Accounts take turns; within an account the order is that of arrival. */
export class RoundRobinQueue<T> {
  /** The first account has the next turn. None is empty. */
  private readonly queues = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.queues.size === 0;
  }

  /** All that waits. */
  get items(): T[] {
    return [...this.queues.values()].flat();
  }

  add(accountId: string, item: T): void {
    const queue = this.queues.get(accountId);
    if (queue) queue.push(item);
    else this.queues.set(accountId, [item]);
  }

  /** Takes what has the next turn; undefined if nothing waits. */
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

  /** Nothing happens if the item does not wait. */
  remove(accountId: string, item: T): void {
    const queue = this.queues.get(accountId);
    const index = queue?.indexOf(item) ?? -1;
    if (queue && index >= 0) queue.splice(index, 1);
    if (queue?.length === 0) this.queues.delete(accountId);
  }
}
