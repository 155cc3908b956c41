import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';

import { GatewayError } from '../../common/errors/gateway-error.js';
import type { DurationResponse, ThreadHello } from './duration.thread.js';
import { unsupportedMedia } from './unsupported-media.error.js';

/**
 * The built file of the thread, because threads cannot run TypeScript. The path is right from `src` and from `dist`,
 * which are beside each other.
 */
const THREAD_FILE = new URL('../../../dist/media/duration/duration.thread.js', import.meta.url);
const HEAP_MB = 128;
/** Interval at which the CPU time of a busy thread is checked. */
const CHECK_INTERVAL_MS = 200;
/** Linux counts the CPU time of a thread in hundredths of a second. */
const TICK_MS = 10;
const RETRY_AFTER_SECONDS = 5;

/** How long a file may take. */
export interface MeasuringLimits {
  /** CPU time of its thread. A file that needs more is rejected. */
  readonly cpuMs: number;
  /** Total time. If a file has not used its CPU time by then, the machine is too busy; the file is not to blame. */
  readonly totalMs: number;
}

/** A thread that measures one file after the other. It starts at once, and keeps no process alive while it is idle. */
export class MeasuringThread {
  private readonly worker: Worker;
  private readonly started: Promise<ThreadHello>;
  hasEnded = false;

  constructor() {
    const limits = { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } };
    // A thread that ends while it is idle fails no file.
    this.worker = new Worker(THREAD_FILE, { execArgv: [], ...limits }).on('error', () => undefined);
    this.worker.on('exit', () => (this.hasEnded = true)).unref();
    this.started = once(this.worker, 'message').then(([hello]) => hello as ThreadHello);
    this.started.catch(() => undefined);
  }

  /**
   * Returns the thread's response for the file. Throws `unsupported_audio_format` for a file that takes too much CPU
   * time or memory, and `service_unavailable` if the thread got too little CPU time; the thread has then ended.
   */
  async measure(path: string, { cpuMs, totalMs }: MeasuringLimits): Promise<DurationResponse> {
    this.worker.ref();
    const stop = new AbortController();
    const abort = (): void => {
      stop.abort(late());
    };
    const timers: NodeJS.Timeout[] = [setTimeout(abort, totalMs)];
    try {
      const { threadId } = await this.hello(stop.signal);
      const before = cpuTimeMs(threadId);
      const responded = once(this.worker, 'message', { signal: stop.signal });
      this.worker.postMessage(path);
      timers.push(
        setInterval(() => {
          const usedMs = (cpuTimeMs(threadId) ?? 0) - (before ?? 0);
          if (before !== undefined && usedMs >= cpuMs) stop.abort(tooLong());
        }, CHECK_INTERVAL_MS),
      );
      const [response] = (await responded) as [DurationResponse];
      this.worker.unref();
      return response;
    } catch (error) {
      this.hasEnded = true;
      // Not awaited: a thread that is blocked in a system call, such as a read, ends only when that returns.
      void this.worker.terminate();
      throw stop.signal.aborted ? stop.signal.reason : failureOf(error);
    } finally {
      timers.forEach(clearInterval);
    }
  }

  private async hello(signal: AbortSignal): Promise<ThreadHello> {
    if (this.hasEnded) throw new Error('The thread has ended.');
    const waiting = new AbortController();
    const ended = once(this.worker, 'exit', { signal: AbortSignal.any([signal, waiting.signal]) });
    const hello = await Promise.race([this.started, ended]).finally(() => {
      ended.catch(() => undefined);
      waiting.abort();
    });
    if (Array.isArray(hello)) throw new Error('The thread has ended.');
    return hello;
  }
}

/** CPU time that a thread of this process has used; undefined if the system does not provide it. */
function cpuTimeMs(threadId: number | undefined): number | undefined {
  if (threadId === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'latin1');
    // The name of the thread, in parentheses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

function tooLong(): GatewayError {
  return unsupportedMedia('it takes too long to measure');
}

function late(): GatewayError {
  const message = 'The machine is too busy to measure the media file.';
  return new GatewayError('service_unavailable', message, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

function failureOf(error: unknown): Error {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return unsupportedMedia('it takes too much to measure');
  return new Error('Measuring a media file failed.', { cause: error });
}
