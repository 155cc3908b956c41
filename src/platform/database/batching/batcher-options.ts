/** The result of a call that the statement skipped because another transaction has locked its group. */
export const LOCKED = Symbol('locked');

/** How calls share statements. */
export interface StatementBatcherOptions<Call, Result> {
  /**
   * Runs calls of many groups in one statement; returns their results in the order of the calls. With `waits`, all calls are
   * of one group and the statement waits for its lock. If calls are retried, it must be idempotent.
   */
  readonly execute: (
    calls: readonly Call[],
    waits: boolean,
  ) => Promise<readonly (Result | typeof LOCKED)[]>;
  /** The group of a call: what is locked as a whole and gets a share of each batch, as an account. */
  readonly groupOf: (call: Call) => string;
  /** Urgent calls go before the others of their group. Default: none is. */
  readonly isUrgent?: (call: Call) => boolean;
  /** Most calls in one statement. */
  readonly maxBatch: number;
  /** Whether a statement has at most one call of each group. */
  readonly isOnePerGroup?: boolean;
  /** Most concurrent shared statements. Default: 1, which keeps the order of the calls of a group. */
  readonly maxStatements?: number;
  /**
   * What a shared statement does about a group that another transaction has locked. `skip`: it answers {@link LOCKED} and
   * does the rest. `wait`: it waits briefly and is then rolled back as a whole. Default: a lock timeout is like any other
   * transient error.
   */
  readonly onLocked?: 'skip' | 'wait';
  /** Default: no limit; for callers that are few or bounded themselves. */
  readonly queue?: QueueLimits;
  /** Transient errors are retried. Default: the callers get them. */
  readonly retry?: RetryOptions<Call>;
}

/** Most calls that wait for a statement, without urgent ones, which are never refused. */
export interface QueueLimits {
  readonly total: number;
  /** Default: the total. */
  readonly perGroup?: number;
  /** The error of a call that exceeds a limit. Nothing was sent. */
  readonly refusal: () => Error;
}

/** For how long transient errors are retried. */
interface RetryOptions<Call> {
  /** Milliseconds from the call to the last moment at which a statement with it may begin. */
  readonly patienceMsOf: (call: Call) => number;
  /** Default: the machine's monotonic clock. */
  readonly nowMs?: () => number;
  /**
   * The error of a call whose patience has ended. `cause` is the last error of its statements, if there was one.
   * `mayBeCommitted`: one of them may have been committed all the same. Default: the cause.
   */
  readonly lateError?: (cause: unknown, mayBeCommitted: boolean) => unknown;
}
