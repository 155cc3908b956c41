import type { Logger } from 'pino';
import {
  currentRequest,
  type RequestContext,
} from '../platform/http-server/connections/request-context.js';
import { toPublicId } from '../common/ids/public-id.js';
import type { Clock } from '../common/time/clock.js';
import { loggableError } from '../platform/observability/logger.js';

/** The process drains if the same error occurs SICK_COUNT times within SICK_WINDOW_MS outside of every request. */
const SICK_COUNT = 10;
const SICK_WINDOW_MS = 60_000;
/** Most different errors that are remembered. */
const MAX_KINDS = 100;

/** Actions of the handler. */
export interface UncaughtErrorActions {
  /** Ends the request to which the error belongs. */
  readonly endExchange: (error: unknown, exchange: RequestContext) => void;
  /**
   * Called once, when the same error has occurred 10 times in a minute outside of every request. The process then has
   * to drain and end.
   */
  readonly onSick: () => void;
}

/**
 * Handles uncaught errors: the error is logged with its execution id if that is known, its request ends, and the
 * process continues. That is safe, because only the state of one request can be broken: money is in the database, and
 * its holds are released when their process has ended or their time is over. An error that belongs to a request never
 * counts towards ending the process: otherwise callers who know such a request could end every process.
 */
export class UncaughtErrorHandler {
  private readonly times = new Map<string, number[]>();
  private isSick = false;

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
    private readonly actions: UncaughtErrorActions,
  ) {}

  /** Installs the handler. From now on no error ends the process by itself. */
  install(): void {
    process.on('uncaughtException', (error) => {
      this.handle(error);
    });
  }

  /** Handles one error; never throws. */
  handle(error: unknown): void {
    const exchange = currentRequest();
    const entry = { execution_id: executionIdOf(exchange), cause: loggableError(error) };
    this.logger.fatal(entry, 'uncaught exception');
    if (exchange) {
      this.end(error, exchange);
      return;
    }
    if (this.isSick || !this.isTooOften(error)) return;
    this.isSick = true;
    this.logger.fatal('the same error occurred too often: the process ends');
    this.actions.onSick();
  }

  private end(error: unknown, exchange: RequestContext): void {
    exchange.hasFailed = true;
    if (exchange.response.writableEnded) return;
    try {
      this.actions.endExchange(error, exchange);
    } catch {
      exchange.response.destroy();
    }
  }

  private isTooOften(error: unknown): boolean {
    const kind = kindOf(error);
    const nowMs = this.clock.nowMs();
    const times = (this.times.get(kind) ?? []).filter((at) => nowMs - at < SICK_WINDOW_MS);
    times.push(nowMs);
    this.times.delete(kind);
    if (this.times.size >= MAX_KINDS) this.times.clear();
    this.times.set(kind, times);
    return times.length >= SICK_COUNT;
  }
}

/** An error can occur before its request has an id. */
function executionIdOf(exchange: RequestContext | undefined): string | undefined {
  const id = (exchange?.request as Partial<RequestContext['request']> | undefined)?.executionId;
  return id && toPublicId('exec', id);
}

/** Errors with the same first stack frame count as the same, whatever ids their messages contain. */
function kindOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const frame = error.stack?.split('\n').find((line) => /^\s+at /.test(line));
  return `${error.name} ${frame ?? error.message}`;
}
