import { Worker } from 'node:worker_threads';
import { Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { mostTokensOf, splitText } from './split-text.js';
import type { CountResult, CountRequest } from './token-counter.thread.js';

/**
 * The built file of the thread, because threads cannot run TypeScript. The path is right from `src` and from `dist`,
 * which are beside each other.
 */
const THREAD_FILE = new URL('../../../dist/chat/tokens/token-counter.thread.js', import.meta.url);
/** When more slices than this wait, the newest text of the account with the most slices is estimated at once. */
const MAX_WAITING_SLICES = 8_192;

/** Tokens of texts. With `isEstimated` the number is an upper bound. */
export interface TokenCount {
  readonly tokens: number;
  readonly isEstimated: boolean;
}

interface Job {
  readonly accountId: string;
  readonly slices: string[][];
  tokens: number;
  readonly resolve: (count: TokenCount) => void;
  timer?: NodeJS.Timeout;
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
   * and nobody waits.
   */
  protected readonly timeoutMs: number = 15_000;
  private thread: Worker | undefined;
  /** Jobs by account. The first account is served next. */
  private readonly queues = new Map<string, Job[]>();
  private current: Job | undefined;
  private waitingSlices = 0;
  private lastId = 0;

  /** Tokens of all texts together; an upper bound if they cannot be counted soon. Never fails. */
  count(accountId: string, texts: readonly string[]): Promise<TokenCount> {
    const slices = splitText(texts);
    if (slices.length === 0) return Promise.resolve({ tokens: 0, isEstimated: false });
    return new Promise((resolve) => {
      const job: Job = { accountId, slices, tokens: 0, resolve };
      job.timer = setTimeout(() => {
        this.estimate(job);
      }, this.timeoutMs);
      this.waitingSlices += slices.length;
      this.enqueue(job);
      while (this.waitingSlices > MAX_WAITING_SLICES) this.estimateOfMost();
      this.countNext();
    });
  }

  /** Ends the thread. Waiting texts are estimated. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.thread?.terminate();
  }

  private enqueue(job: Job): void {
    const queue = this.queues.get(job.accountId);
    if (queue === undefined) this.queues.set(job.accountId, [job]);
    else queue.push(job);
  }

  private countNext(): void {
    if (this.current !== undefined) return;
    const [next] = this.queues;
    if (next === undefined) {
      // An idle thread does not keep the process alive.
      this.thread?.unref();
      return;
    }
    const [accountId, queue] = next;
    const job = queue[0];
    const slice = job?.slices[0];
    if (job === undefined || slice === undefined) {
      this.queues.delete(accountId);
      this.countNext();
      return;
    }
    // The account moves to the end of the queue.
    this.queues.delete(accountId);
    this.queues.set(accountId, queue);
    this.current = job;
    this.thread ??= this.start();
    this.thread.ref();
    this.thread.postMessage({ id: ++this.lastId, texts: slice } satisfies CountRequest);
  }

  private onCounted({ id, tokens }: CountResult): void {
    const job = this.current;
    this.current = undefined;
    if (job !== undefined && id === this.lastId && job.slices.length > 0) {
      job.tokens += tokens;
      job.slices.shift();
      this.waitingSlices -= 1;
      if (job.slices.length === 0) this.end(job, { tokens: job.tokens, isEstimated: false });
    }
    this.countNext();
  }

  /** Estimates the newest text of the account with the most slices, so that one account cannot fill the queue. */
  private estimateOfMost(): void {
    let newest: Job | undefined;
    let most = 0;
    for (const queue of this.queues.values()) {
      const slices = slicesIn(queue);
      if (slices <= most) continue;
      most = slices;
      newest = queue.at(-1);
    }
    if (newest) this.estimate(newest);
  }

  private estimate(job: Job): void {
    const most = job.tokens + mostTokensOf(job.slices);
    this.waitingSlices -= job.slices.length;
    job.slices.length = 0;
    this.end(job, { tokens: most, isEstimated: true });
  }

  private end(job: Job, count: TokenCount): void {
    clearTimeout(job.timer);
    const queue = this.queues.get(job.accountId) ?? [];
    const index = queue.indexOf(job);
    if (index >= 0) queue.splice(index, 1);
    if (queue.length === 0) this.queues.delete(job.accountId);
    job.resolve(count);
  }

  private start(): Worker {
    const thread = new Worker(THREAD_FILE, { execArgv: [] });
    thread.on('message', (result: CountResult) => {
      this.onCounted(result);
    });
    // The exit event follows, and there the waiting texts are estimated.
    thread.on('error', () => undefined);
    thread.on('exit', () => {
      this.thread = undefined;
      this.current = undefined;
      for (const job of [...this.queues.values()].flat()) this.estimate(job);
    });
    return thread;
  }
}

function slicesIn(queue: readonly Job[]): number {
  return queue.reduce((sum, { slices }) => sum + slices.length, 0);
}
