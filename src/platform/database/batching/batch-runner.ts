import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventLoopPacer } from '../../fairness/event-loop-pacer.js';
import { isRolledBack, isTransient } from '../database-errors.js';
import { LOCKED, type StatementBatcherOptions } from './batcher-options.js';
import type { Waiting } from './group-queues.js';

const FIRST_BACKOFF_MS = 20;
const MAX_BACKOFF_MS = 1_000;
/**
 * Most callers resumed in one iteration of the event loop; together they need less than 20 ms. A smaller number makes the next
 * statements smaller: with 8, a paid call cost 13 % more CPU of the gateway and a third more of the database.
 */
const RESUMED_PER_ITERATION = 64;
/** Callers are resumed in the order of their calls, whatever their group. */
const CALLERS = 'callers';

/** Calls of one statement. */
export type Batch<Call, Result> = readonly Waiting<Call, Result>[];

/** Runs one batch of a StatementBatcher until each of its calls is answered or found locked. */
export class BatchRunner<Call, Result> {
  private readonly pacer = new EventLoopPacer(RESUMED_PER_ITERATION);

  constructor(
    private readonly options: Pick<
      StatementBatcherOptions<Call, Result>,
      'execute' | 'onLocked' | 'retry'
    >,
    private readonly nowMs: () => number,
  ) {}

  /**
   * Retries transient errors, and bisects a batch that the database refused for good, so that only the bad call fails. Returns
   * the calls that are not answered because of a lock: those of skipped groups, or all calls of a statement that waited for
   * a lock and was rolled back. They are not committed, and `error` is their last one.
   */
  async run(batch: Batch<Call, Result>, waits: boolean): Promise<Batch<Call, Result>> {
    const { onLocked, retry } = this.options;
    let live = this.refuseLate(batch);
    for (let backoffMs = FIRST_BACKOFF_MS; live.length > 0; backoffMs *= 2) {
      try {
        return await this.runOnce(live, waits);
      } catch (error) {
        const isUndone = noteError(live, error);
        if (!isTransient(error)) return this.isolate(live, waits, error);
        if (isUndone && onLocked === 'wait') return live;
        if (!retry) {
          for (const { reject } of live) reject(error);
          return [];
        }
        await sleep(randomInt(Math.min(backoffMs, MAX_BACKOFF_MS)));
        live = this.refuseLate(live);
      }
    }
    return [];
  }

  /** Tells the caller that the patience of its call has ended. */
  refuse({ error, mayBeCommitted, reject }: Waiting<Call, Result>): void {
    const errorOf = this.options.retry?.lateError;
    reject(
      errorOf ? errorOf(error, mayBeCommitted) : (error ?? new Error('no statement began in time')),
    );
  }

  private async runOnce(live: Batch<Call, Result>, waits: boolean): Promise<Batch<Call, Result>> {
    const calls = live.map(({ call }) => call);
    const results = await this.options.execute(calls, waits);
    assert(
      results.length === live.length,
      'the statement returned fewer or more results than calls',
    );
    return live.filter((waiting, index) => {
      const result = results[index] as Result | typeof LOCKED;
      if (result === LOCKED) return true;
      this.pacer.wait(CALLERS, () => {
        waiting.resolve(result);
      });
      return false;
    });
  }

  private async isolate(
    batch: Batch<Call, Result>,
    waits: boolean,
    error: unknown,
  ): Promise<Batch<Call, Result>> {
    if (batch.length === 1) {
      batch[0]?.reject(error);
      return [];
    }
    const middle = Math.ceil(batch.length / 2);
    const first = await this.run(batch.slice(0, middle), waits);
    return [...first, ...(await this.run(batch.slice(middle), waits))];
  }

  private refuseLate(batch: Batch<Call, Result>): Batch<Call, Result> {
    if (!this.options.retry) return batch;
    const nowMs = this.nowMs();
    if (batch.every(({ deadlineMs }) => deadlineMs > nowMs)) return batch;
    for (const waiting of batch) if (waiting.deadlineMs <= nowMs) this.refuse(waiting);
    return batch.filter(({ deadlineMs }) => deadlineMs > nowMs);
  }
}

/** Whether the server rolled the statement back; otherwise its calls may be committed. */
function noteError<Call, Result>(batch: Batch<Call, Result>, error: unknown): boolean {
  const isUndone = isRolledBack(error);
  for (const waiting of batch) {
    waiting.error = error;
    if (!isUndone) waiting.mayBeCommitted = true;
  }
  return isUndone;
}
