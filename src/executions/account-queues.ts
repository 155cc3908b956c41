/** An item that waits to be committed, and who waits for its result. */
export interface Waiting<Item, Result> {
  readonly item: Item;
  readonly isEnd: boolean;
  readonly deadlineMs: number;
  /** Whether a statement that carried it failed: it may be committed all the same. */
  wasTried: boolean;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue<Item, Result> {
  readonly ends: Waiting<Item, Result>[];
  readonly starts: Waiting<Item, Result>[];
  /** Whether its items wait for something else than their turn. */
  isSuspended: boolean;
}

/** What waits, by account; taken in fair shares, of each account the ends of calls first. */
export class AccountQueues<Item extends { readonly accountId: string }, Result> {
  /** Accounts in the order of their next turn. */
  readonly #queues = new Map<string, Queue<Item, Result>>();

  /** Puts an item at the end of its account's queue. */
  add(waiting: Waiting<Item, Result>): void {
    const queue = this.#queueOf(waiting.item.accountId);
    (waiting.isEnd ? queue.ends : queue.starts).push(waiting);
  }

  /** Puts items that were taken back to where they were. */
  putBack(taken: readonly Waiting<Item, Result>[]): void {
    for (const waiting of [...taken].reverse()) {
      const queue = this.#queueOf(waiting.item.accountId);
      (waiting.isEnd ? queue.ends : queue.starts).unshift(waiting);
    }
  }

  /** Beginnings of calls of this account that wait. */
  waitingStarts(accountId: string): number {
    return this.#queues.get(accountId)?.starts.length ?? 0;
  }

  /** Takes nothing of this account until {@link resume}. */
  suspend(accountId: string): void {
    this.#queueOf(accountId).isSuspended = true;
  }

  /** Ends {@link suspend}. */
  resume(accountId: string): void {
    const queue = this.#queueOf(accountId);
    queue.isSuspended = false;
    this.#forgetEmpty(accountId, queue);
  }

  /** At most `limit` items, of each account an equal share of the room while others wait. */
  take(limit: number): Waiting<Item, Result>[] {
    const taken: Waiting<Item, Result>[] = [];
    for (;;) {
      const ready = [...this.#queues].filter(([, queue]) => isReady(queue));
      if (ready.length === 0) return taken;
      const share = Math.max(1, Math.floor((limit - taken.length) / ready.length));
      for (const [accountId, queue] of ready) {
        const room = Math.min(share, limit - taken.length);
        if (room <= 0) return taken;
        const ends = queue.ends.splice(0, room);
        taken.push(...ends, ...queue.starts.splice(0, room - ends.length));
        // Whoever had a turn goes to the end.
        this.#queues.delete(accountId);
        this.#queues.set(accountId, queue);
        this.#forgetEmpty(accountId, queue);
      }
    }
  }

  #queueOf(accountId: string): Queue<Item, Result> {
    let queue = this.#queues.get(accountId);
    if (queue === undefined) {
      queue = { ends: [], starts: [], isSuspended: false };
      this.#queues.set(accountId, queue);
    }
    return queue;
  }

  #forgetEmpty(accountId: string, queue: Queue<Item, Result>): void {
    const isEmpty = queue.ends.length + queue.starts.length === 0;
    if (isEmpty && !queue.isSuspended) this.#queues.delete(accountId);
  }
}

/** The items by account, in the order of their first. */
export function byAccount<Item extends { readonly accountId: string }, Result>(
  items: readonly Waiting<Item, Result>[],
): Map<string, Waiting<Item, Result>[]> {
  const groups = new Map<string, Waiting<Item, Result>[]>();
  for (const waiting of items) {
    const group = groups.get(waiting.item.accountId);
    if (group === undefined) groups.set(waiting.item.accountId, [waiting]);
    else group.push(waiting);
  }
  return groups;
}

function isReady<Item, Result>({ ends, starts, isSuspended }: Queue<Item, Result>): boolean {
  return !isSuspended && ends.length + starts.length > 0;
}
