import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { WorkerThreadPool } from '../../platform/fairness/worker-thread-pool.js';
import { mostTokensOf, splitText } from './split-text.js';

/** The path is right from `src` and from `dist`, which are beside each other. */
const THREAD_FILE = new URL('../../../dist/text/tokens/token-counter.thread.js', import.meta.url);
/** When more slices than this wait, the newest text of the account with the most slices is estimated at once. */
const MAX_WAITING_SLICES = 8_192;
/** A slice takes 50 ms at most, and the thread starts within a second, unless the machine is very busy. */
const SLICE_TIMEOUT_MS = 60_000;

/** Tokens of texts. With `isEstimated` the number is an upper bound. */
export interface TokenCount {
  readonly tokens: number;
  readonly isEstimated: boolean;
}

/**
 * Counts tokens of calls whose provider reports no usage (decision G-23). The tokenizer takes 250 ms and 40 MB to load,
 * so it runs in a thread of its own, which the first count starts. The thread gets one slice of bounded work at a time,
 * and accounts are served round-robin, so that the texts of one account delay others by one slice at most.
 */
@Injectable()
export class TokenCounter implements BeforeApplicationShutdown {
  /**
   * A text that is not counted after this time is estimated. In most cases its client has disconnected and nobody waits
   * for the response.
   */
  protected readonly timeoutMs: number = 15_000;
  /** Its requests are slices, and its responses their tokens. */
  private readonly pool = new WorkerThreadPool<readonly string[], number>({
    file: THREAD_FILE,
    threads: 1,
    threadsPerBucket: 1,
    waiting: MAX_WAITING_SLICES,
    waitingPerBucket: Infinity,
    rejects: 'largest',
    timeoutMs: SLICE_TIMEOUT_MS,
  });

  /** Tokens of all texts together; an upper bound if they cannot be counted soon. Never fails. */
  async count(accountId: string, texts: readonly string[]): Promise<TokenCount> {
    const slices = splitText(texts);
    const job = this.pool.submit(accountId, slices);
    const timer = setTimeout(() => {
      this.pool.cancel(job);
    }, this.timeoutMs);
    const isEstimated = await job.done.then(
      () => false,
      () => true,
    );
    clearTimeout(timer);
    const tokens = slices.reduce(
      (sum, slice, index) => sum + (job.responses[index] ?? mostTokensOf(slice)),
      0,
    );
    return { tokens, isEstimated };
  }

  /** Ends the thread. Waiting texts are estimated. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.pool.stop();
  }
}
