import { GatewayError } from '../../common/errors/gateway-error.js';
import { type MeasuringLimits, MeasuringThread } from './measuring-thread.js';
import type { MediaDuration } from './media-duration.js';

/** Limits: threads, waiting files of all holders and of one, and the time that a file may take. */
export const DURATION_LIMITS = {
  threads: 3,
  threadsPerHolder: 2,
  waiting: 1_000,
  waitingPerHolder: 500,
  cpuMs: 5_000,
  totalMs: 30_000,
} as const;

interface Job {
  readonly path: string;
  readonly holder: string;
  readonly resolve: (length: MediaDuration) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Measures files in threads, so that no file can delay the main thread or take more of the CPU than its limit. The next file
 * comes from the holder with the fewest files under way; holders with equally few take turns. One thread always stays free
 * for other holders.
 */
export class DurationPool {
  private readonly idle: MeasuringThread[] = [];
  /** The waiting files of each holder that has any, in the order of the holders' next turns. */
  private readonly waiting = new Map<string, Job[]>();
  private waitingFiles = 0;
  private readonly runningOf = new Map<string, number>();
  private running = 0;

  constructor(private readonly limits: MeasuringLimits = DURATION_LIMITS) {}

  /** Starts the threads, so that no file waits for one. Those that have ended are replaced. */
  start(): void {
    const living = this.idle.filter(({ hasEnded }) => !hasEnded);
    const missing = DURATION_LIMITS.threads - this.running - living.length;
    for (let count = 0; count < missing; count += 1) living.push(new MeasuringThread());
    this.idle.splice(0, this.idle.length, ...living);
  }

  /** See {@link measureMediaDuration}. */
  measure(path: string, holder: string): Promise<MediaDuration> {
    const own = this.waiting.get(holder) ?? [];
    const isFull = this.waitingFiles >= DURATION_LIMITS.waiting;
    if (isFull || own.length >= DURATION_LIMITS.waitingPerHolder) {
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
    if (this.running >= DURATION_LIMITS.threads) return;
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
    let fewest: number = DURATION_LIMITS.threadsPerHolder;
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

  private async run(path: string): Promise<MediaDuration> {
    const thread = this.idleThread() ?? new MeasuringThread();
    try {
      const answer = await thread.measure(path, this.limits);
      if ('length' in answer) return answer.length;
      throw new GatewayError('unsupported_audio_format', answer.refusal);
    } finally {
      // In the place of one that was ended another one starts, before a file needs it.
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
 * Length of the media file at `path`, which the holder (an account) sent. Threads count its codec frames (decision
 * G-44). Throws `unsupported_audio_format` for a file that is unreadable, has no audio track or takes too much CPU time, and
 * `service_unavailable` when too many files wait, or the thread gets too little of the CPU.
 */
export function measureMediaDuration(path: string, holder: string): Promise<MediaDuration> {
  return pool.measure(path, holder);
}
