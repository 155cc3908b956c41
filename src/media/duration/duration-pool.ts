import { GatewayError } from '../../common/errors/gateway-error.js';
import { type MeasuringLimits, MeasuringThread } from './measuring-thread.js';
import type { MediaDuration } from './media-duration.js';

/** Limits: threads, waiting files in total and per account, and the time that a file may take. */
export const DURATION_LIMITS = {
  threads: 3,
  threadsPerAccount: 2,
  waiting: 1_000,
  waitingPerAccount: 500,
  cpuMs: 5_000,
  totalMs: 30_000,
} as const;

interface Job {
  readonly path: string;
  readonly accountId: string;
  readonly resolve: (duration: MediaDuration) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Measures files in threads, so that no file can delay the main thread or take more of the CPU than its limit. The next
 * file comes from the account with the fewest files in progress; accounts with equally few are served round-robin. One
 * thread always stays free for other accounts.
 */
export class DurationPool {
  private readonly idle: MeasuringThread[] = [];
  /** The waiting files by account, in the order in which accounts are served next. */
  private readonly waiting = new Map<string, Job[]>();
  private waitingFiles = 0;
  private readonly runningOf = new Map<string, number>();
  private running = 0;

  constructor(private readonly limits: MeasuringLimits = DURATION_LIMITS) {}

  /** Starts the threads in advance, so that no file waits for one. Threads that have ended are replaced. */
  start(): void {
    const living = this.idle.filter(({ hasEnded }) => !hasEnded);
    const missing = DURATION_LIMITS.threads - this.running - living.length;
    for (let count = 0; count < missing; count += 1) living.push(new MeasuringThread());
    this.idle.splice(0, this.idle.length, ...living);
  }

  /** See {@link measureMediaDuration}. */
  measure(path: string, accountId: string): Promise<MediaDuration> {
    const own = this.waiting.get(accountId) ?? [];
    const isFull = this.waitingFiles >= DURATION_LIMITS.waiting;
    if (isFull || own.length >= DURATION_LIMITS.waitingPerAccount) {
      const message = 'Too many media files are being measured.';
      return Promise.reject(
        new GatewayError('service_unavailable', message, { retryAfterSeconds: 1 }),
      );
    }
    return new Promise((resolve, reject) => {
      own.push({ path, accountId, resolve, reject });
      this.waiting.set(accountId, own);
      this.waitingFiles += 1;
      this.startNext();
    });
  }

  private startNext(): void {
    if (this.running >= DURATION_LIMITS.threads) return;
    const job = this.nextJob();
    if (job === undefined) return;
    const { accountId } = job;
    this.running += 1;
    this.runningOf.set(accountId, this.runningBy(accountId) + 1);
    void this.run(job.path)
      .then(job.resolve, job.reject)
      .finally(() => {
        this.running -= 1;
        const left = this.runningBy(accountId) - 1;
        if (left > 0) this.runningOf.set(accountId, left);
        else this.runningOf.delete(accountId);
        this.startNext();
      });
  }

  /**
   * The oldest job of the account with the fewest files in progress; of several such accounts, of the one that is
   * served next. Undefined if the job would use the last thread that is free for other accounts.
   */
  private nextJob(): Job | undefined {
    let next: string | undefined;
    let fewest: number = DURATION_LIMITS.threadsPerAccount;
    for (const accountId of this.waiting.keys()) {
      const running = this.runningBy(accountId);
      if (running >= fewest) continue;
      next = accountId;
      fewest = running;
    }
    return next === undefined ? undefined : this.dequeue(next);
  }

  private dequeue(accountId: string): Job | undefined {
    const jobs = this.waiting.get(accountId) ?? [];
    const job = jobs.shift();
    this.waiting.delete(accountId);
    // The account moves to the end.
    if (jobs.length > 0) this.waiting.set(accountId, jobs);
    this.waitingFiles -= 1;
    return job;
  }

  private runningBy(accountId: string): number {
    return this.runningOf.get(accountId) ?? 0;
  }

  private async run(path: string): Promise<MediaDuration> {
    const thread = this.idleThread() ?? new MeasuringThread();
    try {
      const response = await thread.measure(path, this.limits);
      if ('duration' in response) return response.duration;
      throw new GatewayError('unsupported_audio_format', response.reason);
    } finally {
      // A thread that has ended is replaced now, before a file needs it.
      this.idle.push(thread.hasEnded ? new MeasuringThread() : thread);
    }
  }

  private idleThread(): MeasuringThread | undefined {
    for (;;) {
      const thread = this.idle.pop();
      if (!thread?.hasEnded) return thread;
    }
  }
}

const pool = new DurationPool();

/** Starts the threads that {@link measureMediaDuration} uses. */
export function startMeasuring(): void {
  pool.start();
}

/**
 * Length of the media file at `path`, which the account sent. Threads count its codec frames (decision G-44). Throws
 * `unsupported_audio_format` for a file that is unreadable, has no audio track or takes too much CPU time, and
 * `service_unavailable` when too many files wait, or the thread gets too little of the CPU.
 */
export function measureMediaDuration(path: string, accountId: string): Promise<MediaDuration> {
  return pool.measure(path, accountId);
}
