import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Clock } from '../common/time/clock.js';

/** Most items one statement carries. */
export const MAX_BATCH = 256;
/** Most items waiting in one GroupCommit; beyond it callers are refused. */
export const MAX_QUEUED = 20_000;
/** Statements of one GroupCommit under way at once, over all accounts. */
const MAX_STATEMENTS = 12;

const UNAVAILABLE = 'The gateway cannot reach its ledger right now.';
const RETRY_AFTER_SECONDS = 1;
const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;

/** How a {@link GroupCommit} commits. */
export interface GroupCommitOptions<Item, Result> {
  /**
   * Commits the items of one account in one statement; results in the order of the items. It may be called again with
   * items that were committed before, and answers then what it answered first.
   */
  readonly commit: (accountId: string, items: readonly Item[]) => Promise<readonly Result[]>;
  /** Whether a failed commit may do better when tried again: contention or a lost connection. */
  readonly isTransient: (error: unknown) => boolean;
  readonly clock: Clock;
  /** Told the size of every batch. */
  readonly onBatch?: (size: number) => void;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly deadlineMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Commits what many callers ask of an account in shared statements: one statement per account is under way, and the next
 * carries everything that was queued meanwhile. No timer: an item that finds its account idle leaves at once
 * (architecture: Money, "Group commit").
 */
export class GroupCommit<Item, Result> {
  readonly #queues = new Map<string, Waiting<Item, Result>[]>();
  /** Accounts with waiting items and no statement under way, in order of arrival. */
  readonly #idle = new Set<string>();
  readonly #busy = new Set<string>();
  #queued = 0;

  constructor(private readonly options: GroupCommitOptions<Item, Result>) {}

  /**
   * The committed result of `item`. Transient failures are tried again for `patienceMs`, and no try starts later than that.
   * Throws OutcomeUnknown when every try failed, 503 service_unavailable when the item was never tried because the queue
   * is full or too slow, and the database's own error, after which nothing is committed, when it refuses the item for good.
   */
  submit(accountId: string, item: Item, patienceMs: number): Promise<Result> {
    if (this.#queued >= MAX_QUEUED) return Promise.reject(neverTried());
    const deadlineMs = this.options.clock.nowMs() + patienceMs;
    return new Promise((resolve, reject) => {
      const queue = this.#queues.get(accountId);
      const waiting = { item, deadlineMs, resolve, reject };
      if (queue === undefined) this.#queues.set(accountId, [waiting]);
      else queue.push(waiting);
      this.#queued += 1;
      if (!this.#busy.has(accountId)) this.#idle.add(accountId);
      this.#startStatements();
    });
  }

  #startStatements(): void {
    for (const accountId of this.#idle) {
      if (this.#busy.size >= MAX_STATEMENTS) return;
      this.#idle.delete(accountId);
      this.#busy.add(accountId);
      void this.#commitNext(accountId);
    }
  }

  async #commitNext(accountId: string): Promise<void> {
    const queue = this.#queues.get(accountId) ?? [];
    const batch = queue.splice(0, MAX_BATCH);
    if (queue.length === 0) this.#queues.delete(accountId);
    this.options.onBatch?.(batch.length);
    await this.#commit(accountId, batch);
    this.#queued -= batch.length;
    this.#busy.delete(accountId);
    if (this.#queues.has(accountId)) this.#idle.add(accountId);
    this.#startStatements();
  }

  async #commit(accountId: string, batch: readonly Waiting<Item, Result>[]): Promise<void> {
    let live = this.#dropLate(batch, neverTried);
    let backoffMs = FIRST_BACKOFF_MS;
    while (live.length > 0) {
      try {
        const items = live.map((waiting) => waiting.item);
        const results = await this.options.commit(accountId, items);
        assert(results.length === live.length, 'a commit answers every item');
        live.forEach((waiting, index) => {
          waiting.resolve(results[index] as Result);
        });
        return;
      } catch (error) {
        if (!this.options.isTransient(error)) {
          await this.#isolate(accountId, live, error);
          return;
        }
        await sleep(randomInt(backoffMs));
        backoffMs = backoffMs < MAX_BACKOFF_MS ? backoffMs * 2 : MAX_BACKOFF_MS;
        live = this.#dropLate(live, () => new OutcomeUnknown(error));
      }
    }
  }

  /** A batch that fails for good is committed item by item, so that one bad item fails alone. */
  async #isolate(
    accountId: string,
    batch: readonly Waiting<Item, Result>[],
    error: unknown,
  ): Promise<void> {
    if (batch.length === 1) batch[0]?.reject(error);
    else for (const waiting of batch) await this.#commit(accountId, [waiting]);
  }

  #dropLate(
    batch: readonly Waiting<Item, Result>[],
    reason: () => GatewayError,
  ): readonly Waiting<Item, Result>[] {
    const nowMs = this.options.clock.nowMs();
    for (const waiting of batch) if (waiting.deadlineMs <= nowMs) waiting.reject(reason());
    return batch.filter((waiting) => waiting.deadlineMs > nowMs);
  }
}

/** 503: the database was asked and its answer never came, so the caller cannot know whether the item is committed. */
export class OutcomeUnknown extends GatewayError {
  constructor(cause: unknown) {
    super('service_unavailable', UNAVAILABLE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
  }
}

function neverTried(): GatewayError {
  return new GatewayError('service_unavailable', UNAVAILABLE, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
