/** A queued item and the promise of its caller. */
export interface Waiting<Item, Result> {
  readonly item: Item;
  readonly isEnd: boolean;
  readonly deadlineMs: number;
  /** Whether a statement with this item failed but may still have committed it. */
  wasTried: boolean;
  /** Number of shared statements that skipped it because another process had its account locked. */
  timesLocked: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface Queue<Item, Result> {
  ends: Waiting<Item, Result>[];
  starts: Waiting<Item, Result>[];
  /** Whether its items wait for a row lock and not for the next shared statement. */
  isSuspended: boolean;
  /** Whether another process had the account locked when its items were last taken. */
  isLocked: boolean;
}

/** Counts of queued starts of calls, without those of locked accounts. */
export type ReadyStarts = Pick<
  AccountQueues<{ readonly accountId: string }, unknown>,
  'readyStarts' | 'readyAccounts' | 'readyStartsOf'
>;

/** Queued items by account. Accounts get equal shares of a batch. Within an account, ends of calls come first. */
export class AccountQueues<Item extends { readonly accountId: string }, Result> {
  /** Accounts in the order in which the next batch takes from them. */
  readonly #queues = new Map<string, Queue<Item, Result>>();
  #starts = 0;
  #ready = 0;
  #readyAccounts = 0;

  /** Puts an item at the end of its account's queue. */
  add(waiting: Waiting<Item, Result>): void {
    this.#change(this.#queueOf(waiting.item.accountId), (queue) =>
      (waiting.isEnd ? queue.ends : queue.starts).push(waiting),
    );
  }

  /** Returns items of locked accounts to the front of their queues. */
  putBack(taken: readonly Waiting<Item, Result>[]): void {
    for (const waiting of [...taken].reverse()) {
      this.#change(this.#queueOf(waiting.item.accountId), (queue) => {
        (waiting.isEnd ? queue.ends : queue.starts).unshift(waiting);
        queue.isLocked = true;
      });
    }
  }

  /** Whether no item waits. */
  get isEmpty(): boolean {
    for (const { ends, starts } of this.#queues.values()) {
      if (ends.length + starts.length > 0) return false;
    }
    return true;
  }

  /** Number of queued starts of calls, of all accounts. */
  get waitingStarts(): number {
    return this.#starts;
  }

  /** {@link waitingStarts} of one account. */
  waitingStartsOf(accountId: string): number {
    return this.#queues.get(accountId)?.starts.length ?? 0;
  }

  /** Number of queued starts of calls, without those of locked accounts. */
  get readyStarts(): number {
    return this.#ready;
  }

  /** Number of accounts with such starts. */
  get readyAccounts(): number {
    return this.#readyAccounts;
  }

  /** {@link readyStarts} of one account. */
  readyStartsOf(accountId: string): number {
    const queue = this.#queues.get(accountId);
    return queue ? readyIn(queue) : 0;
  }

  /** Stops {@link take} from taking items of this account until {@link resume}. */
  suspend(accountId: string): void {
    this.#change(this.#queueOf(accountId), (queue) => (queue.isSuspended = true));
  }

  /** Ends {@link suspend}. */
  resume(accountId: string): void {
    const queue = this.#queueOf(accountId);
    this.#change(queue, () => (queue.isSuspended = false));
    this.#forgetEmpty(accountId, queue);
  }

  /** Takes at most `limit` items of one account, suspended or not. */
  takeOf(accountId: string, limit: number): Waiting<Item, Result>[] {
    const taken: Waiting<Item, Result>[] = [];
    const queue = this.#queues.get(accountId);
    if (queue) this.#move(queue, taken, limit);
    return taken;
  }

  /** Takes all items past their deadline, of suspended accounts too. */
  takeLate(nowMs: number): Waiting<Item, Result>[] {
    const late: Waiting<Item, Result>[] = [];
    for (const [accountId, queue] of this.#queues) {
      this.#change(queue, () => {
        for (const kind of ['ends', 'starts'] as const) {
          const overdue = queue[kind].filter(({ deadlineMs }) => deadlineMs <= nowMs);
          if (overdue.length === 0) continue;
          late.push(...overdue);
          queue[kind] = queue[kind].filter(({ deadlineMs }) => deadlineMs > nowMs);
        }
      });
      this.#forgetEmpty(accountId, queue);
    }
    return late;
  }

  /** Takes at most `limit` items. While other accounts wait, each gets an equal share. */
  take(limit: number): Waiting<Item, Result>[] {
    const taken: Waiting<Item, Result>[] = [];
    for (;;) {
      const ready = [...this.#queues].filter(([, queue]) => isReady(queue));
      if (ready.length === 0) return taken;
      const share = Math.max(1, Math.floor((limit - taken.length) / ready.length));
      for (const [accountId, queue] of ready) {
        const room = Math.min(share, limit - taken.length);
        if (room <= 0) return taken;
        this.#move(queue, taken, room);
        // Round robin: the account moves to the end.
        this.#queues.delete(accountId);
        this.#queues.set(accountId, queue);
        this.#forgetEmpty(accountId, queue);
      }
    }
  }

  #move(queue: Queue<Item, Result>, to: Waiting<Item, Result>[], limit: number): void {
    this.#change(queue, ({ ends, starts }) => {
      const first = ends.splice(0, limit);
      to.push(...first, ...starts.splice(0, limit - first.length));
      queue.isLocked = false;
    });
  }

  #queueOf(accountId: string): Queue<Item, Result> {
    let queue = this.#queues.get(accountId);
    if (queue === undefined) {
      queue = { ends: [], starts: [], isSuspended: false, isLocked: false };
      this.#queues.set(accountId, queue);
    }
    return queue;
  }

  /** Changes a queue and updates the counts over all queues. */
  #change(queue: Queue<Item, Result>, change: (queue: Queue<Item, Result>) => unknown): void {
    const startsBefore = queue.starts.length;
    const readyBefore = readyIn(queue);
    change(queue);
    const ready = readyIn(queue);
    this.#starts += queue.starts.length - startsBefore;
    this.#ready += ready - readyBefore;
    this.#readyAccounts += Math.sign(ready) - Math.sign(readyBefore);
  }

  #forgetEmpty(accountId: string, queue: Queue<Item, Result>): void {
    const isEmpty = queue.ends.length + queue.starts.length === 0;
    if (isEmpty && !queue.isSuspended) this.#queues.delete(accountId);
  }
}

/** Groups items by account, in the order of each account's first item. */
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

function readyIn<Item, Result>({ starts, isSuspended, isLocked }: Queue<Item, Result>): number {
  return isSuspended || isLocked ? 0 : starts.length;
}
