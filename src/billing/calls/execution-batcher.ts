import { GatewayError } from '../../common/errors/gateway-error.js';
import type { StatementBatcherOptions } from '../../platform/database/batching/batcher-options.js';
import { StatementBatcher } from '../../platform/database/batching/statement-batcher.js';

/** Most commands in one statement. */
export const MAX_BATCH = 256;
/** Most queued starts of calls for one account. More are refused. */
export const MAX_QUEUED_PER_ACCOUNT = 5_000;
/** Most queued starts of calls in all. More are refused. */
export const MAX_QUEUED = 50_000;
const UNAVAILABLE = 'The gateway cannot reach its ledger right now.';
const RETRY_AFTER_SECONDS = 1;

/** 503: the command is not committed and never will be, because it was not sent or the database rolled it back. */
export class NotCommitted extends GatewayError {
  constructor(cause?: unknown) {
    super('service_unavailable', UNAVAILABLE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
  }
}

/** 503: the database did not respond, so it is unknown whether the command was committed. */
class OutcomeUnknown extends GatewayError {
  constructor(cause: unknown) {
    super('service_unavailable', UNAVAILABLE, { retryAfterSeconds: RETRY_AFTER_SECONDS, cause });
  }
}

/** What the ledger knows about its commands. */
interface ExecutionBatcherOptions<Command, Outcome> {
  readonly execute: StatementBatcherOptions<Command, Outcome>['execute'];
  /** Ends of calls are committed before the starts of their account and are never refused because of a full queue. */
  readonly isEnd: (command: Command) => boolean;
  /** Longest wait for the outcome. No try begins later. */
  readonly patienceMsOf: (command: Command) => number;
  readonly nowMs: () => number;
}

/**
 * Commits the starts and ends of calls in shared statements, one at a time, that skip locked accounts (ADR 0002). `run`
 * throws NotCommitted when the queue is full, when the command waited too long, or when every statement with it was rolled
 * back: it is not committed and never will be. After any other error the command may have been committed.
 */
export function executionBatcher<Command extends { readonly accountId: string }, Outcome>({
  execute,
  isEnd,
  patienceMsOf,
  nowMs,
}: ExecutionBatcherOptions<Command, Outcome>): StatementBatcher<Command, Outcome> {
  return new StatementBatcher({
    execute,
    groupOf: ({ accountId }) => accountId,
    isUrgent: isEnd,
    maxBatch: MAX_BATCH,
    onLocked: 'skip',
    queue: {
      total: MAX_QUEUED,
      perGroup: MAX_QUEUED_PER_ACCOUNT,
      refusal: () => new NotCommitted(),
    },
    retry: {
      patienceMsOf,
      nowMs,
      lateError: (cause, mayBeCommitted) =>
        mayBeCommitted ? new OutcomeUnknown(cause) : new NotCommitted(cause),
    },
  });
}
