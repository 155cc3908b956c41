import { BucketCounts } from './bucket-counts.js';
import { RoundRobinQueue } from './round-robin-queue.js';
import { ThreadError, type ThreadSettings, WorkerThread } from './worker-thread.js';

/** The threads of a pool, and how much may wait for them. */
export interface ThreadPoolSettings extends ThreadSettings {
  readonly threads: number;
  /** Most threads that work for one bucket at once. */
  readonly threadsPerBucket: number;
  /** Most waiting requests of all buckets together. */
  readonly waiting: number;
  /** Most waiting requests of one bucket. */
  readonly waitingPerBucket: number;
  /** Which job fails with the fault `full`: the new one, or the newest of the bucket with the most waiting requests. */
  readonly rejects: 'new' | 'largest';
}

/** Requests that belong together. Each is answered by any thread, in any order. */
export class ThreadJob<Request, Response> {
  /** The responses so far, each at the index of its request. */
  readonly responses: (Response | undefined)[];
  /** Resolves when all requests are answered; rejects with {@link ThreadError} if one of them fails. */
  readonly done: Promise<void>;
  /** Requests that were given to a thread. */
  given = 0;
  private answered = 0;
  private resolve!: () => void;
  private reject!: (error: unknown) => void;

  constructor(
    readonly bucket: string,
    readonly requests: readonly Request[],
  ) {
    this.responses = new Array<Response | undefined>(requests.length);
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    if (requests.length === 0) this.resolve();
  }

  /** Requests that no thread was given. */
  get waiting(): number {
    return this.requests.length - this.given;
  }

  answer(index: number, response: Response): void {
    this.responses[index] = response;
    this.answered += 1;
    if (this.answered === this.requests.length) this.resolve();
  }

  fail(error: unknown): void {
    this.given = this.requests.length;
    this.reject(error);
  }
}

/** Room for one request that is not known yet. It counts as one that waits until it runs or is disposed of. */
export interface ThreadPlace<Request, Response> extends Disposable {
  /** The response to the request, which is never refused for lack of room. Once only. Rejects with {@link ThreadError}. */
  run(request: Request): Promise<Response>;
}

/**
 * Threads that answer requests, so that none delays the main thread. The next request is of the bucket with the fewest in
 * progress; buckets with equally few are served round-robin, and within a bucket the order is that of arrival. The queue
 * is bounded. A thread that fails, or takes too long or too much, is ended and replaced; only its job fails.
 */
export class WorkerThreadPool<Request, Response> {
  private readonly threads = new Set<WorkerThread<Request, Response>>();
  /** Jobs with requests that no thread was given. */
  private readonly waiting = new RoundRobinQueue<ThreadJob<Request, Response>>();
  private readonly waitingRequests = new BucketCounts();
  private readonly reserved = new BucketCounts();
  private readonly running = new BucketCounts();
  private isStarted = false;

  constructor(private readonly settings: ThreadPoolSettings) {}

  /** Starts all threads in advance, so that no request waits for one. From now on threads that end are replaced at once. */
  start(): void {
    this.isStarted = true;
    while (this.threads.size < this.settings.threads) this.addThread();
  }

  /** Adds a job. See {@link ThreadPoolSettings.rejects} for what happens if too many requests wait. */
  submit(bucket: string, requests: readonly Request[]): ThreadJob<Request, Response> {
    const job = new ThreadJob<Request, Response>(bucket, requests);
    if (requests.length === 0) return job;
    if (this.settings.rejects === 'new' && !this.hasRoomFor(bucket, requests.length)) {
      job.fail(new ThreadError('full'));
      return job;
    }
    return this.enqueue(job);
  }

  /** Room for a later request, where new jobs are rejected. Throws {@link ThreadError} if too many wait. */
  reserve(bucket: string): ThreadPlace<Request, Response> {
    if (!this.hasRoomFor(bucket, 1)) throw new ThreadError('full');
    this.reserved.add(bucket);
    let isOpen = true;
    const leave = (): void => {
      if (isOpen) this.reserved.add(bucket, -1);
      isOpen = false;
    };
    return {
      run: (request) => {
        leave();
        return this.responseOf(this.enqueue(new ThreadJob<Request, Response>(bucket, [request])));
      },
      [Symbol.dispose]: leave,
    };
  }

  /** The response to one request. Rejects with {@link ThreadError}. */
  run(bucket: string, request: Request): Promise<Response> {
    return this.responseOf(this.submit(bucket, [request]));
  }

  /** Fails a job whose responses nobody needs. Its requests that are in progress go on. */
  cancel(job: ThreadJob<Request, Response>): void {
    this.fail(job, new ThreadError('cancelled'));
  }

  /** Ends the threads; all jobs fail. A later job starts a thread again. */
  async stop(): Promise<void> {
    this.isStarted = false;
    for (const job of this.waiting.items) this.fail(job, new ThreadError('ended'));
    await Promise.all([...this.threads].map((thread) => thread.end()));
  }

  private async responseOf(job: ThreadJob<Request, Response>): Promise<Response> {
    await job.done;
    return job.responses[0] as Response;
  }

  private enqueue(job: ThreadJob<Request, Response>): ThreadJob<Request, Response> {
    this.waiting.add(job.bucket, job);
    this.waitingRequests.add(job.bucket, job.requests.length);
    this.rejectLargest();
    this.startNext();
    return job;
  }

  private hasRoomFor(bucket: string, requests: number): boolean {
    const { waiting, waitingPerBucket } = this.settings;
    const { waitingRequests: own, reserved } = this;
    return (
      own.total + reserved.total + requests <= waiting &&
      own.of(bucket) + reserved.of(bucket) + requests <= waitingPerBucket
    );
  }

  private rejectLargest(): void {
    while (this.waitingRequests.total > this.settings.waiting) {
      const job = this.waiting.newestOf(this.waitingRequests.largest() ?? '');
      if (job === undefined) return;
      this.fail(job, new ThreadError('full'));
    }
  }

  private fail(job: ThreadJob<Request, Response>, error: unknown): void {
    this.waitingRequests.add(job.bucket, -job.waiting);
    this.waiting.remove(job.bucket, job);
    job.fail(error);
  }

  private readonly runningOf = (bucket: string): number => this.running.of(bucket);

  private startNext(): void {
    const { threads, threadsPerBucket } = this.settings;
    while (this.running.total < threads) {
      const job = this.waiting.nextOfLeast(this.runningOf, threadsPerBucket);
      if (job === undefined) return;
      void this.runNextOf(job);
    }
  }

  /** Gives the next request of the job to a thread. Other buckets are served before the job's next one. */
  private async runNextOf(job: ThreadJob<Request, Response>): Promise<void> {
    const { bucket, requests, given } = job;
    job.given += 1;
    if (job.waiting > 0) this.waiting.putBack(bucket, job);
    this.waitingRequests.add(bucket, -1);
    this.running.add(bucket);
    try {
      const response = await this.idleThread().ask(requests[given] as Request);
      job.answer(given, response);
    } catch (error) {
      this.fail(job, error);
    }
    this.running.add(bucket, -1);
    if (this.isStarted) this.start();
    this.startNext();
  }

  private idleThread(): WorkerThread<Request, Response> {
    for (const thread of this.threads) if (!thread.isBusy) return thread;
    return this.addThread();
  }

  private addThread(): WorkerThread<Request, Response> {
    const thread = new WorkerThread<Request, Response>(this.settings, (ended) => {
      this.threads.delete(ended);
    });
    this.threads.add(thread);
    return thread;
  }
}
