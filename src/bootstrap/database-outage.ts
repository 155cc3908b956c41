import type { Logger } from 'pino';
import { GatewayError } from '../common/errors/gateway-error.js';
import {
  databaseFaultOf,
  isOfFullPool,
  isRolledBack,
  isTransient,
  reasonOf,
  sqlStateOf,
} from '../platform/database/database-errors.js';

/** `Retry-After` by the age of the outage: callers come back soon from a short one, and are not a storm at the end of a long one. */
const WAITS: readonly { readonly fromMs: number; readonly seconds: number }[] = [
  { fromMs: 15_000, seconds: 10 },
  { fromMs: 5_000, seconds: 5 },
  { fromMs: 2_000, seconds: 2 },
];
const FIRST_SECONDS = 1;
/** Of the wait; it is added by chance, so that callers who were refused together do not come back together. */
const MAX_JITTER = 0.5;
const LINE_EVERY_MS = 1_000;
/** An outage of which nobody has heard for this long has ended, also when no heartbeat said so. */
const FORGOTTEN_MS = 60_000;

/** What an outage needs of its process. */
interface OutageTools {
  readonly logger: Pick<Logger, 'error' | 'info'>;
  /** Monotonic. */
  readonly nowMs: () => number;
  /** Below 1. */
  readonly random?: () => number;
}

/**
 * A database that cannot be reached, as callers and the log are told: 503 with a `Retry-After` that grows with the outage,
 * and one line a second with the number of refused calls, because a line for each would fill the log.
 */
export class DatabaseOutage {
  private sinceMs: number | undefined;
  private lastMs = -Infinity;
  private refusedInAll = 0;
  private unsaid = 0;
  private cause: unknown;
  private timer: NodeJS.Timeout | undefined;
  private readonly random: () => number;

  constructor(private readonly tools: OutageTools) {
    this.random = tools.random ?? Math.random;
  }

  /**
   * The public form of an error of the database that may pass, and of a 503 that it caused; undefined for any other error.
   * The time to wait grows while the database is away; contention says one second.
   */
  translate(thrown: unknown): GatewayError | undefined {
    if (thrown instanceof GatewayError) {
      return isAway(thrown) ? thrown.withRetryAfter(this.waitSeconds()) : undefined;
    }
    if (!isTransient(thrown)) return undefined;
    const trouble = new GatewayError('service_unavailable', messageFor(thrown), {
      retryAfterSeconds: FIRST_SECONDS,
      cause: thrown,
    });
    return isAway(trouble) ? trouble.withRetryAfter(this.waitSeconds()) : trouble;
  }

  /** Counts a refused call for the next line of the log. Returns whether the outage is why it was refused. */
  counts(error: GatewayError): boolean {
    if (!isAway(error)) return false;
    this.refusedInAll += 1;
    this.unsaid += 1;
    this.cause = error.cause;
    if (this.timer === undefined) this.say();
    return true;
  }

  /** The database was reached. */
  end(): void {
    if (this.sinceMs === undefined) return;
    const seconds = Math.round((this.tools.nowMs() - this.sinceMs) / 1_000);
    this.stopSaying();
    if (this.unsaid > 0) this.line();
    this.tools.logger.info({ refused: this.refusedInAll, seconds }, 'the database is back');
    this.sinceMs = undefined;
    this.refusedInAll = 0;
  }

  private waitSeconds(): number {
    const now = this.tools.nowMs();
    if (now - this.lastMs > FORGOTTEN_MS) this.sinceMs = undefined;
    this.sinceMs ??= now;
    this.lastMs = now;
    const ageMs = now - this.sinceMs;
    const seconds = WAITS.find(({ fromMs }) => ageMs >= fromMs)?.seconds ?? FIRST_SECONDS;
    return seconds + Math.round(this.random() * MAX_JITTER * seconds);
  }

  /** Writes a line now and one in each second in which a call is refused. */
  private say(): void {
    if (this.unsaid === 0) {
      this.stopSaying();
      return;
    }
    this.line();
    this.timer = setTimeout(() => {
      this.say();
    }, LINE_EVERY_MS).unref();
  }

  private stopSaying(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private line(): void {
    const fields = { refused: this.unsaid, code: sqlStateOf(this.cause) };
    this.unsaid = 0;
    this.tools.logger.error(
      { ...fields, reason: reasonOf(this.cause) },
      `calls are refused with 503: ${isOfFullPool(this.cause) ? 'no connection of the pool became free' : 'the database is away'}`,
    );
  }
}

function messageFor(error: unknown): string {
  if (isRolledBack(error)) return 'The database did not end this call in time. Try again.';
  return isOfFullPool(error)
    ? 'All connections of the gateway to its database are in use.'
    : 'The gateway cannot reach its database right now.';
}

/** Whether this is a 503 because no server was reached, or because the connection was lost. */
function isAway({ code, cause }: GatewayError): boolean {
  if (code !== 'service_unavailable' || cause === undefined) return false;
  const fault = databaseFaultOf(cause);
  return fault === 'unavailable' || fault === 'lost';
}
