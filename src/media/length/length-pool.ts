import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { GatewayError } from '../../common/errors/gateway-error.js';
import type { LengthAnswer } from './length.thread.js';
import type { MediaLength } from './media-length.js';
import { unreadable } from './unreadable.js';

/**
 * The built file of the thread, because threads cannot run TypeScript. The path is right from `src` and from `dist`,
 * which are beside each other.
 */
const THREAD_FILE = new URL('../../../dist/media/length/length.thread.js', import.meta.url);

/** Limits: threads, waiting files of all holders and of one, time per file, heap per thread. */
export const LENGTH_LIMITS = {
  threads: 3,
  threadsPerHolder: 2,
  waiting: 1_000,
  waitingPerHolder: 500,
  deadlineMs: 5_000,
  heapMb: 128,
} as const;

interface Job {
  readonly path: string;
  readonly holder: string;
  readonly resolve: (length: MediaLength) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Measures files in threads, so that no file can delay the main thread or take longer than its deadline. The next file
 * comes from the holder with the fewest files under way; holders with equally few take turns. One thread always stays free
 * for other holders.
 */
export class LengthPool {
  private readonly idle: Worker[] = [];
  /** The waiting files of each holder that has any, in the order of the holders' next turns. */
  private readonly waiting = new Map<string, Job[]>();
  private waitingFiles = 0;
  private readonly runningOf = new Map<string, number>();
  private running = 0;

  constructor(private readonly deadlineMs: number = LENGTH_LIMITS.deadlineMs) {}

  /** See {@link measureMediaLength}. */
  measure(path: string, holder: string): Promise<MediaLength> {
    const own = this.waiting.get(holder) ?? [];
    const isFull = this.waitingFiles >= LENGTH_LIMITS.waiting;
    if (isFull || own.length >= LENGTH_LIMITS.waitingPerHolder) {
      const message = 'Too many media files are being measured.';
      return Promise.reject(
        new GatewayError('service_unavailable', message, { retryAfterSeconds: 1 }),
      );
    }
    return new Promise((resolve, reject) => {
      own.push({ path, holder, resolve, reject });
      this.waiting.set(holder, own);
      this.waitingFiles += 1;
      this.startNext();
    });
  }

  private startNext(): void {
    if (this.running >= LENGTH_LIMITS.threads) return;
    const job = this.nextJob();
    if (job === undefined) return;
    const { holder } = job;
    this.running += 1;
    this.runningOf.set(holder, this.runningBy(holder) + 1);
    void this.run(job.path)
      .then(job.resolve, job.reject)
      .finally(() => {
        this.running -= 1;
        const left = this.runningBy(holder) - 1;
        if (left > 0) this.runningOf.set(holder, left);
        else this.runningOf.delete(holder);
        this.startNext();
      });
  }

  /**
   * The oldest job of the holder with the fewest files under way, of several the one whose turn is next. None, if it would
   * take the last thread that is free for other holders.
   */
  private nextJob(): Job | undefined {
    let next: string | undefined;
    let fewest: number = LENGTH_LIMITS.threadsPerHolder;
    for (const holder of this.waiting.keys()) {
      const running = this.runningBy(holder);
      if (running >= fewest) continue;
      next = holder;
      fewest = running;
    }
    return next === undefined ? undefined : this.takeOf(next);
  }

  private takeOf(holder: string): Job | undefined {
    const jobs = this.waiting.get(holder) ?? [];
    const job = jobs.shift();
    this.waiting.delete(holder);
    // A holder that had its turn goes to the end.
    if (jobs.length > 0) this.waiting.set(holder, jobs);
    this.waitingFiles -= 1;
    return job;
  }

  private runningBy(holder: string): number {
    return this.runningOf.get(holder) ?? 0;
  }

  private async run(path: string): Promise<MediaLength> {
    const thread = this.idle.pop() ?? this.startThread();
    thread.ref();
    let answer: LengthAnswer;
    try {
      thread.postMessage(path);
      const signal = AbortSignal.timeout(this.deadlineMs);
      [answer] = (await once(thread, 'message', { signal })) as [LengthAnswer];
    } catch (error) {
      await thread.terminate();
      throw failureOf(error);
    }
    // An idle thread does not keep the process alive.
    thread.unref();
    this.idle.push(thread);
    if ('length' in answer) return answer.length;
    throw new GatewayError('unsupported_audio_format', answer.refusal);
  }

  private startThread(): Worker {
    const thread = new Worker(THREAD_FILE, {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: LENGTH_LIMITS.heapMb },
    });
    // A thread that ends while it is idle fails no file. It is removed from the pool.
    thread.on('error', () => undefined);
    thread.on('exit', () => {
      const index = this.idle.indexOf(thread);
      if (index >= 0) this.idle.splice(index, 1);
    });
    return thread;
  }
}

function failureOf(error: unknown): Error {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ABORT_ERR') return unreadable('it takes too long to measure');
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return unreadable('it takes too much to measure');
  return new Error('Measuring a media file failed.', { cause: error });
}

const pool = new LengthPool();

/**
 * Length of the media file at `path`, which the holder (an account) sent. Threads count its codec frames (decision
 * G-44). Throws `unsupported_audio_format` for a file that is unreadable, has no audio track or takes longer than the
 * deadline, and `service_unavailable` when too many files wait.
 */
export function measureMediaLength(path: string, holder: string): Promise<MediaLength> {
  return pool.measure(path, holder);
}
