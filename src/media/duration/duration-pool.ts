import { GatewayError } from '../../common/errors/gateway-error.js';
import { ThreadError } from '../../platform/fairness/worker-thread.js';
import { WorkerThreadPool } from '../../platform/fairness/worker-thread-pool.js';
import type { DurationResponse } from './duration.thread.js';
import type { MediaDuration } from './media-duration.js';
import { unsupportedMedia } from './unsupported-media.error.js';

/** The path is right from `src` and from `dist`, which are beside each other. */
const THREAD_FILE = new URL('../../../dist/media/duration/duration.thread.js', import.meta.url);
const HEAP_MB = 128;
const FULL_RETRY_AFTER_SECONDS = 1;
const BUSY_RETRY_AFTER_SECONDS = 5;

/** Limits: threads, waiting files in total and per account, and the time that a file may take. */
export const DURATION_LIMITS = {
  threads: 3,
  threadsPerAccount: 2,
  waiting: 1_000,
  waitingPerAccount: 500,
  cpuMs: 5_000,
  totalMs: 30_000,
} as const;

/** How long a file may take. */
interface MeasuringLimits {
  /** CPU time of its thread. A file that needs more is rejected. */
  readonly cpuMs: number;
  /** Total time. If a file has not used its CPU time by then, the machine is too busy; the file is not to blame. */
  readonly totalMs: number;
}

/**
 * Measures files in threads, so that no file can delay the main thread or take more of the CPU than its limit. One thread
 * always stays free for other accounts.
 */
export class DurationPool {
  private readonly pool: WorkerThreadPool<string, DurationResponse>;

  constructor({ cpuMs, totalMs }: MeasuringLimits = DURATION_LIMITS) {
    this.pool = new WorkerThreadPool({
      file: THREAD_FILE,
      heapMb: HEAP_MB,
      threads: DURATION_LIMITS.threads,
      threadsPerBucket: DURATION_LIMITS.threadsPerAccount,
      waiting: DURATION_LIMITS.waiting,
      waitingPerBucket: DURATION_LIMITS.waitingPerAccount,
      rejects: 'new',
      cpuMs,
      timeoutMs: totalMs,
    });
  }

  /** Starts the threads in advance, so that no file waits for one. Threads that have ended are replaced. */
  start(): void {
    this.pool.start();
  }

  /** See {@link measureMediaDuration}. */
  async measure(path: string, accountId: string): Promise<MediaDuration> {
    const response = await this.pool.run(accountId, path).catch((error: unknown) => {
      throw error instanceof ThreadError ? errorOf(error) : error;
    });
    if ('duration' in response) return response.duration;
    throw new GatewayError('unsupported_audio_format', response.reason);
  }
}

function errorOf(error: ThreadError): Error {
  switch (error.fault) {
    case 'full':
      return unavailable('Too many media files are being measured.', FULL_RETRY_AFTER_SECONDS);
    case 'late':
      return unavailable(
        'The machine is too busy to measure the media file.',
        BUSY_RETRY_AFTER_SECONDS,
      );
    case 'cpu':
      return unsupportedMedia('it takes too long to measure');
    case 'memory':
      return unsupportedMedia('it takes too much to measure');
    case 'cancelled':
    case 'ended':
      return new Error('Measuring a media file failed.', { cause: error });
  }
}

function unavailable(message: string, retryAfterSeconds: number): GatewayError {
  return new GatewayError('service_unavailable', message, { retryAfterSeconds });
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
