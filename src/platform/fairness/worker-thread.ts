import { readFileSync, readlinkSync } from 'node:fs';
import { parentPort, Worker } from 'node:worker_threads';

/** Interval at which the CPU time of a busy thread is checked. */
const CHECK_INTERVAL_MS = 200;
/** Linux counts the CPU time of a thread in hundredths of a second. */
const TICK_MS = 10;

const MESSAGES = {
  full: 'too many requests wait for a thread',
  cancelled: 'nobody needs the response any more',
  late: 'the thread did not respond in time',
  cpu: 'the request takes too much CPU time',
  memory: 'the request takes too much memory',
  ended: 'the thread has ended',
} as const;

/** Why a request of a thread has no response. After the last four, its thread has ended. */
export class ThreadError extends Error {
  constructor(
    readonly fault: keyof typeof MESSAGES,
    cause?: unknown,
  ) {
    super(MESSAGES[fault], { cause });
  }
}

/** The file of a thread, and what one request may take. */
export interface ThreadSettings {
  /** The built file, because threads cannot run TypeScript. It calls {@link answerRequests}. */
  readonly file: URL;
  /** Limit of the heap; without it Node's default. */
  readonly heapMb?: number;
  /** Total time of a request, with the start of the thread if that has only begun. */
  readonly timeoutMs: number;
  /** CPU time of a request. Without it, and where the system does not provide it, there is no such limit. */
  readonly cpuMs?: number;
}

interface Exchange<Request, Response> {
  readonly request: Request;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: ThreadError) => void;
  readonly timers: NodeJS.Timeout[];
}

/** A thread that answers one request at a time. It starts at once, and keeps no process alive while it is idle. */
export class WorkerThread<Request, Response> {
  private readonly worker: Worker;
  private hasEnded = false;
  private isReady = false;
  /** Its id in the operating system; undefined if the system does not provide it. */
  private osThreadId: number | undefined;
  private current: Exchange<Request, Response> | undefined;

  /** @param onEnd Called once, when the thread has ended or is ended, for whatever reason. */
  constructor(
    private readonly settings: ThreadSettings,
    private readonly onEnd: (thread: WorkerThread<Request, Response>) => void,
  ) {
    const { file, heapMb } = settings;
    const resourceLimits = heapMb === undefined ? {} : { maxOldGenerationSizeMb: heapMb };
    this.worker = new Worker(file, { execArgv: [], resourceLimits });
    this.worker.on('message', this.onMessage);
    this.worker.on('error', (error: unknown) => void this.end(errorOf(error)));
    this.worker.on('exit', () => void this.end());
    this.worker.unref();
  }

  /** Whether a request is in progress. */
  get isBusy(): boolean {
    return this.current !== undefined;
  }

  /** The response of an idle thread. Rejects with {@link ThreadError}; the thread has then ended. */
  ask(request: Request): Promise<Response> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(
        () => void this.end(new ThreadError('late')),
        this.settings.timeoutMs,
      );
      this.current = { request, resolve, reject, timers: [late] };
      this.worker.ref();
      if (this.isReady) this.send(this.current);
    });
  }

  /**
   * Ends the thread; its request fails. Resolves when it has ended: a thread that is blocked in a system call, such as a
   * read, ends only when that returns.
   */
  async end(error = new ThreadError('ended')): Promise<void> {
    if (!this.hasEnded) {
      this.hasEnded = true;
      this.onEnd(this);
      this.finish()?.reject(error);
    }
    await this.worker.terminate();
  }

  private send({ request, timers }: Exchange<Request, Response>): void {
    const { cpuMs = Infinity } = this.settings;
    const beforeMs = cpuMs === Infinity ? undefined : cpuTimeMs(this.osThreadId);
    this.worker.postMessage(request);
    if (beforeMs === undefined) return;
    const check = (): void => {
      const usedMs = (cpuTimeMs(this.osThreadId) ?? 0) - beforeMs;
      if (usedMs >= cpuMs) void this.end(new ThreadError('cpu'));
    };
    timers.push(setInterval(check, CHECK_INTERVAL_MS));
  }

  /** The first message says that the thread is ready; every other one is a response. */
  private readonly onMessage = (message: unknown): void => {
    if (this.isReady) {
      this.finish()?.resolve(message as Response);
      return;
    }
    this.isReady = true;
    this.osThreadId = message as number | undefined;
    if (this.current) this.send(this.current);
  };

  private finish(): Exchange<Request, Response> | undefined {
    const { current } = this;
    this.current = undefined;
    current?.timers.forEach(clearInterval);
    this.worker.unref();
    return current;
  }
}

/**
 * Answers the requests of the thread's {@link WorkerThread}. The file of a thread calls it once, when it has loaded. An
 * error that `answer` throws, or rejects with, ends the thread.
 */
export function answerRequests(answer: (request: never) => unknown): void {
  const reply = async (request: unknown): Promise<void> => {
    parentPort?.postMessage(await answer(request as never));
  };
  // A rejection is an error that nothing handles, and ends the thread too.
  parentPort?.on('message', (request: unknown) => void reply(request));
  parentPort?.postMessage(ownOsThreadId());
}

function ownOsThreadId(): number | undefined {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1));
  } catch {
    return undefined;
  }
}

/** CPU time that a thread of this process has used; undefined if the system does not provide it. */
function cpuTimeMs(osThreadId: number | undefined): number | undefined {
  if (osThreadId === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/self/task/${osThreadId}/stat`, 'latin1');
    // The name of the thread, in parentheses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return undefined;
  }
}

function errorOf(error: unknown): ThreadError {
  const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
  return new ThreadError(isMemory ? 'memory' : 'ended', error);
}
