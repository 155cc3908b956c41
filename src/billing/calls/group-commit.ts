import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/time/clock.js';
import { AccountQueues, byAccount, type ReadyStarts, type Waiting } from './account-queues.js';
import { NotCommitted, OutcomeUnknown } from './commit-errors.js';
import { Resumptions } from './resumptions.js';

/** Most concurrent statements that wait for an account locked by another process. */
const MAX_PATIENT_STATEMENTS = 4;
/** Most such statements in a row for one account. Then its items go back to the shared statements. */
const MAX_PATIENT_ROUNDS = 16;
/** After this many shared statements skipped an item, its account gets a statement of its own. */
const MAX_TIMES_LOCKED = 3;
/** Most items in one statement. */
export const MAX_BATCH = 256;
/** Most queued starts of calls for one account. More are refused. */
export const MAX_QUEUED_PER_ACCOUNT = 5_000;
/** Most queued starts of calls in all. More are refused. */
export const MAX_QUEUED = 50_000;

const PATIENCE_CHECK_MS = 250;
const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;
/** Pause when all accounts are locked by others and {@link MAX_PATIENT_STATEMENTS} are in use. */
const LOCKED_PAUSE_MS = 5;

/** An item to commit for an account. */
export interface CommitItem {
  readonly accountId: string;
}

/** Options of a {@link GroupCommit}. */
export interface GroupCommitOptions<Item extends CommitItem, Result> {
  /**
   * Commits items of many accounts in one statement. Returns results in the order of the items; undefined for items whose
   * account another process has locked. With `waits`, all items are of one account and the statement waits for its lock.
   * Must be idempotent: called again with committed items, it returns the same results.
   */
  readonly commit: (
    items: readonly Item[],
    waits: boolean,
  ) => Promise<readonly (Result | undefined)[]>;
  /** Whether a retry may succeed after this error (contention, lost connection). */
  readonly isTransient: (error: unknown) => boolean;
  /** Whether the statement that failed with this error was rolled back. */
  readonly isRolledBack: (error: unknown) => boolean;
  readonly clock: Clock;
  /** Called with the size of every batch. */
  readonly onBatch?: (size: number) => void;
}

/** How to commit an item. */
export interface CommitTerms {
  /** Transient failures are retried for this long. No attempt starts later. */
  readonly patienceMs: number;
  /** Ends of calls are committed before the starts of their account and are never refused because of a full queue. */
  readonly isEnd: boolean;
}

/**
 * Commits the items of many callers in shared statements (ADR 0002). One statement runs at a time. The next one carries
 * everything queued in the meantime, with equal shares for the accounts. There is no timer: an item is sent at once while
 * no statement runs, and the next statement is sent before the callers of the last one are resumed. An account locked by
 * another process does not delay the others: its items are retried in the next statements. After three of them, or at once
 * when all accounts of a statement were locked, they get statements of their own that wait for the lock.
 */
export class GroupCommit<Item extends CommitItem, Result> {
  readonly #queues = new AccountQueues<Item, Result>();
  #isRunning = false;
  readonly #resumptions = new Resumptions();
  #patientStatements = 0;
  #patienceTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: GroupCommitOptions<Item, Result>) {}

  /** Counts of queued starts of calls, without those of locked accounts. */
  get ready(): ReadyStarts {
    return this.#queues;
  }

  /**
   * Commits `item` and returns its result. Throws NotCommitted when the queue is full, when the item waited too long, or when
   * every statement with the item was rolled back: it is not committed and never will be. After any other error the item
   * may have been committed.
   */
  submit(item: Item, { patienceMs, isEnd }: CommitTerms): Promise<Result> {
    const queues = this.#queues;
    const isFull =
      queues.waitingStarts >= MAX_QUEUED ||
      queues.waitingStartsOf(item.accountId) >= MAX_QUEUED_PER_ACCOUNT;
    if (!isEnd && isFull) return Promise.reject(new NotCommitted());
    const deadlineMs = this.options.clock.nowMs() + patienceMs;
    const result = new Promise<Result>((resolve, reject) => {
      queues.add({ item, isEnd, deadlineMs, wasTried: false, timesLocked: 0, resolve, reject });
    });
    if (!this.#isRunning) void this.#run();
    if (!queues.isEmpty) this.#watchPatience();
    return result;
  }

  /** While items are queued, refuses those past their deadline, because the running statement may take longer than that. */
  #watchPatience(): void {
    if (this.#patienceTimer) return;
    this.#patienceTimer = setTimeout(() => {
      this.#patienceTimer = undefined;
      for (const late of this.#queues.takeLate(this.options.clock.nowMs())) refuse(late);
      if (!this.#queues.isEmpty) this.#watchPatience();
    }, PATIENCE_CHECK_MS).unref();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      const batch = this.#queues.take(MAX_BATCH);
      if (batch.length === 0) break;
      const locked = await this.#commit(batch, false);
      if (locked.length === 0) continue;
      const isAllLocked = locked.length === batch.length;
      const left = this.#waitElsewhere(locked, isAllLocked);
      this.#queues.putBack(left);
      if (isAllLocked && left.length > 0) await sleep(LOCKED_PAUSE_MS);
    }
    this.#isRunning = false;
  }

  /**
   * Starts separate statements for locked accounts, up to {@link MAX_PATIENT_STATEMENTS}: at once if every account of the
   * batch was locked, otherwise after {@link MAX_TIMES_LOCKED} shared statements, because most locks are held only by
   * another process's shared statement. Returns the remaining items.
   */
  #waitElsewhere(
    locked: readonly Waiting<Item, Result>[],
    isAllLocked: boolean,
  ): Waiting<Item, Result>[] {
    const left: Waiting<Item, Result>[] = [];
    for (const [accountId, items] of byAccount(locked)) {
      for (const waiting of items) waiting.timesLocked += 1;
      const isDue = isAllLocked || items.some((waiting) => waiting.timesLocked >= MAX_TIMES_LOCKED);
      if (isDue && this.#patientStatements < MAX_PATIENT_STATEMENTS) {
        void this.#waitFor(accountId, items);
      } else {
        left.push(...items);
      }
    }
    return left;
  }

  async #waitFor(accountId: string, items: Waiting<Item, Result>[]): Promise<void> {
    this.#patientStatements += 1;
    this.#queues.suspend(accountId);
    let batch = items;
    for (let round = 1; batch.length > 0; round += 1) {
      this.#queues.putBack(await this.#commit(batch, true));
      if (round === MAX_PATIENT_ROUNDS) break;
      batch = this.#queues.takeOf(accountId, MAX_BATCH);
    }
    this.#queues.resume(accountId);
    this.#patientStatements -= 1;
    if (!this.#isRunning) void this.#run();
  }

  /**
   * Commits the batch, or rejects the items that cannot be committed. Returns the items whose account another process
   * has locked.
   */
  async #commit(
    batch: readonly Waiting<Item, Result>[],
    waits: boolean,
  ): Promise<readonly Waiting<Item, Result>[]> {
    let live = this.#dropLate(batch);
    let backoffMs = FIRST_BACKOFF_MS;
    while (live.length > 0) {
      try {
        return await this.#commitOnce(live, waits);
      } catch (error) {
        if (!this.options.isRolledBack(error)) for (const waiting of live) waiting.wasTried = true;
        if (!this.options.isTransient(error)) return this.#isolate(live, waits, error);
        await sleep(randomInt(backoffMs));
        backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
        live = this.#dropLate(live, error);
      }
    }
    return [];
  }

  async #commitOnce(
    live: readonly Waiting<Item, Result>[],
    waits: boolean,
  ): Promise<readonly Waiting<Item, Result>[]> {
    this.options.onBatch?.(live.length);
    const items = live.map((waiting) => waiting.item);
    const results = await this.options.commit(items, waits);
    assert(results.length === live.length, 'commit returned fewer or more results than items');
    return live.filter((waiting, index) => {
      const result = results[index];
      if (result === undefined) return true;
      this.#resumptions.add(() => {
        waiting.resolve(result);
      });
      return false;
    });
  }

  /**
   * Bisects a batch that failed permanently, so that only the bad item fails.
   */
  async #isolate(
    batch: readonly Waiting<Item, Result>[],
    waits: boolean,
    error: unknown,
  ): Promise<readonly Waiting<Item, Result>[]> {
    if (batch.length === 1) {
      batch[0]?.reject(error);
      return [];
    }
    const middle = Math.ceil(batch.length / 2);
    const first = await this.#commit(batch.slice(0, middle), waits);
    return [...first, ...(await this.#commit(batch.slice(middle), waits))];
  }

  #dropLate(
    batch: readonly Waiting<Item, Result>[],
    cause?: unknown,
  ): readonly Waiting<Item, Result>[] {
    const nowMs = this.options.clock.nowMs();
    for (const waiting of batch) if (waiting.deadlineMs <= nowMs) refuse(waiting, cause);
    return batch.filter((waiting) => waiting.deadlineMs > nowMs);
  }
}

function refuse<Item extends CommitItem, Result>(
  { wasTried, reject }: Waiting<Item, Result>,
  cause?: unknown,
): void {
  reject(wasTried ? new OutcomeUnknown(cause) : new NotCommitted(cause));
}
