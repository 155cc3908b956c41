import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, BatchRunner } from './batch-runner.js';
import type { QueueLimits, StatementBatcherOptions } from './batcher-options.js';
import { GroupQueues, type ReadyCalls } from './group-queues.js';

/** Most concurrent statements that each wait for one locked group. */
const MAX_OWN_STATEMENTS = 4;
/** Most such statements in a row for one group that can be skipped. Then its calls go back to the shared statements. */
const MAX_OWN_ROUNDS = 16;
/** After this many shared statements skipped a call, its group gets a statement of its own. */
const MAX_TIMES_SKIPPED = 3;
/** Pause when all groups were skipped and {@link MAX_OWN_STATEMENTS} are in use. */
const LOCKED_PAUSE_MS = 5;
/** A group that may still be locked is tried in shared statements again when nobody has called for it for this long. */
const FORGOTTEN_MS = 60_000;
const DEADLINE_CHECK_MS = 250;

/** A group that gets statements of its own, each of which waits for its lock. */
interface Apart {
  isUnderWay: boolean;
  usedAtMs: number;
}

/**
 * Runs the calls of many callers in shared statements (ADR 0002). While a statement runs, calls queue; the next one takes
 * all of them, with equal shares for their groups. There is no timer: a call is sent at once while fewer statements run than
 * may, and the next statement is sent before the callers of the last one are resumed.
 *
 * - Every call is answered once. Where the database refuses a statement for good, it is bisected until the bad call is
 *   alone, and only that caller gets the error.
 * - A locked group does not delay the others. It gets statements of its own that wait for the lock. With `skip`: when three
 *   shared statements skipped it, or at once when nothing in a statement was free. With `wait`: when a statement was rolled
 *   back, for the group with most calls, and the other groups are tried one by one; a group whose own statement waits in
 *   vain has all its callers told so, and its later calls wait apart too, until it was free once.
 * - Without `retry`, callers get transient errors, and after a lost connection their call may have been committed. With it,
 *   the statement is tried again until the patience of its calls ends.
 */
export class StatementBatcher<Call, Result> {
  private readonly queues = new GroupQueues<Call, Result>();
  private readonly runner: BatchRunner<Call, Result>;
  private readonly nowMs: () => number;
  /** Those that wait for a statement of their own; the first one is next. */
  private readonly apart = new Map<string, Apart>();
  private sharedStatements = 0;
  private ownStatements = 0;
  private deadlineTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: StatementBatcherOptions<Call, Result>) {
    this.nowMs = options.retry?.nowMs ?? (() => performance.now());
    this.runner = new BatchRunner(options, this.nowMs);
  }

  /** Counts of the calls that are in no statement and not urgent, without those of locked groups. */
  get ready(): ReadyCalls {
    return this.queues;
  }

  /**
   * The result of the call. Throws the database's error, or that of a call that exceeds the limits of the queue or whose
   * patience has ended.
   */
  run(call: Call): Promise<Result> {
    const { retry, queue } = this.options;
    const group = this.options.groupOf(call);
    const isUrgent = this.options.isUrgent?.(call) ?? false;
    if (queue && !isUrgent && this.isFull(queue, group)) return Promise.reject(queue.refusal());
    const result = new Promise<Result>((resolve, reject) => {
      this.queues.add({
        call,
        group,
        isUrgent,
        deadlineMs: retry ? this.nowMs() + retry.patienceMsOf(call) : Infinity,
        mayBeCommitted: false,
        timesSkipped: 0,
        error: undefined,
        resolve,
        reject,
      });
    });
    this.send();
    if (retry && !this.queues.isEmpty) this.watchDeadlines();
    return result;
  }

  private isFull({ total, perGroup = total }: QueueLimits, group: string): boolean {
    const { queues } = this;
    return queues.waitingCalls >= total || queues.waitingCallsOf(group) >= perGroup;
  }

  private send(): void {
    if (this.apart.size > 0) this.sendApart();
    if (this.sharedStatements < (this.options.maxStatements ?? 1)) void this.serveAll();
  }

  private sendApart(): void {
    for (const [group, own] of this.apart) {
      if (this.ownStatements === MAX_OWN_STATEMENTS) return;
      if (!own.isUnderWay && this.queues.has(group)) void this.serveApart(group, own);
    }
  }

  /** Refuses queued calls past their deadline, because the running statements may take longer than that. */
  private watchDeadlines(): void {
    this.deadlineTimer ??= setTimeout(() => {
      this.deadlineTimer = undefined;
      for (const late of this.queues.takeLate(this.nowMs())) this.runner.refuse(late);
      if (!this.queues.isEmpty) this.watchDeadlines();
    }, DEADLINE_CHECK_MS).unref();
  }

  private async serveAll(): Promise<void> {
    const { maxBatch, isOnePerGroup = false, onLocked } = this.options;
    this.sharedStatements += 1;
    for (;;) {
      const batch = this.queues.take(maxBatch, isOnePerGroup);
      if (batch.length === 0) break;
      const locked = await this.runner.run(batch, false);
      if (locked.length === 0) continue;
      if (onLocked === 'wait') await this.tryGroups(locked);
      else await this.putBackSkipped(locked, locked.length === batch.length);
    }
    this.sharedStatements -= 1;
  }

  /** Queues skipped calls again, and sets groups apart if that is due and a statement of their own can run at once. */
  private async putBackSkipped(locked: Batch<Call, Result>, areAll: boolean): Promise<void> {
    this.queues.putBack(locked);
    let areLeft = false;
    for (const [group, calls] of byGroup(locked)) {
      for (const waiting of calls) waiting.timesSkipped += 1;
      // Most locks are held only by the shared statement of another process, and to skip costs nothing.
      const isDue = areAll || calls.some(({ timesSkipped }) => timesSkipped >= MAX_TIMES_SKIPPED);
      if (isDue && this.ownStatements < MAX_OWN_STATEMENTS) this.setApart(group);
      else areLeft = true;
    }
    if (areAll && areLeft) await sleep(LOCKED_PAUSE_MS);
  }

  /**
   * After a rollback because of a lock: sets the group with most calls apart, which is probably the locked one, and tries
   * the others one by one, because a lock takes long to detect.
   */
  private async tryGroups(batch: Batch<Call, Result>): Promise<void> {
    const groups = [...byGroup(batch)].sort(([, a], [, b]) => a.length - b.length);
    const largest = groups.pop();
    if (largest) this.putApart(...largest);
    for (const [group, calls] of groups) this.putApart(group, await this.runner.run(calls, false));
  }

  private putApart(group: string, calls: Batch<Call, Result>): void {
    if (calls.length === 0) return;
    this.queues.putBack(calls);
    this.setApart(group);
  }

  /** From now on the group gets statements of its own. */
  private setApart(group: string): void {
    const usedAtMs = performance.now();
    for (const [idle, own] of this.apart) {
      const isUsed = own.isUnderWay || this.queues.has(idle);
      if (isUsed || usedAtMs - own.usedAtMs < FORGOTTEN_MS) continue;
      this.apart.delete(idle);
      this.queues.setApart(idle, false);
    }
    if (!this.apart.has(group)) this.apart.set(group, { isUnderWay: false, usedAtMs });
    this.queues.setApart(group, true);
    this.send();
  }

  private async serveApart(group: string, own: Apart): Promise<void> {
    const { maxBatch, onLocked } = this.options;
    const maxRounds = onLocked === 'skip' ? MAX_OWN_ROUNDS : 1;
    let locked: Batch<Call, Result> = [];
    this.ownStatements += 1;
    own.isUnderWay = true;
    for (let round = 0; round < maxRounds && this.queues.has(group); round += 1) {
      locked = await this.runner.run(this.queues.takeOf(group, maxBatch), true);
      if (onLocked === 'skip') this.queues.putBack(locked);
    }
    this.ownStatements -= 1;
    own.isUnderWay = false;
    own.usedAtMs = performance.now();
    this.apart.delete(group);
    const [first] = locked;
    if (onLocked === 'wait' && first) {
      const told = [...locked, ...this.queues.takeOf(group, Infinity)];
      for (const { reject } of told) reject(first.error);
      // It goes behind the other groups.
      this.apart.set(group, own);
    } else {
      this.queues.setApart(group, false);
    }
    this.send();
  }
}

/** Calls by group, in the order of each group's first call. */
function byGroup<Call, Result>(batch: Batch<Call, Result>): Map<string, Batch<Call, Result>> {
  const groups = new Map<string, Batch<Call, Result>[number][]>();
  for (const waiting of batch) {
    const calls = groups.get(waiting.group);
    if (calls) calls.push(waiting);
    else groups.set(waiting.group, [waiting]);
  }
  return groups;
}
