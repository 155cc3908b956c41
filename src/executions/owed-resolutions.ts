import type { ExecutionEnd } from './execution-statements.js';

/** Most releases owed at once; at that many the ledger takes no new calls. */
const MAX_OWED = 10_000;
const RETRY_MS = 1_000;

/**
 * The releases this process owes: calls whose caller was told of failure while the database could not be told. Each is
 * tried until it is done; when the process dies first, the sweeper of holds takes over.
 */
export class OwedResolutions {
  readonly #owed = new Map<string, ExecutionEnd>();
  #timer: NodeJS.Timeout | undefined;

  /** `resolve` makes one release durable or throws. */
  constructor(private readonly resolve: (end: ExecutionEnd) => Promise<void>) {}

  get size(): number {
    return this.#owed.size;
  }

  get isFull(): boolean {
    return this.#owed.size >= MAX_OWED;
  }

  /** Takes over the release of a call. */
  add(end: ExecutionEnd): void {
    this.#owed.set(end.executionId, end);
    this.#timer ??= this.#schedule();
  }

  /** Tries each once. */
  async flush(): Promise<void> {
    await Promise.allSettled(
      [...this.#owed.values()].map(async (end) => {
        await this.resolve(end);
        this.#owed.delete(end.executionId);
      }),
    );
  }

  /** Tries no more; what is left is the sweeper's. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #schedule(): NodeJS.Timeout {
    return setTimeout(() => {
      void this.flush().then(() => {
        this.#timer = this.#owed.size > 0 ? this.#schedule() : undefined;
      });
    }, RETRY_MS).unref();
  }
}
