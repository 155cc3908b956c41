import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';

/** A request and its answer. */
export interface RequestContext {
  readonly request: Request;
  readonly response: Response;
  /** Set once an error that nothing handled has ended it. */
  hasFailed?: boolean;
}

const scope = new AsyncLocalStorage<RequestContext>();
const EXCHANGE = Symbol('exchange');

/** What belongs to an exchange, once that has begun. */
interface Member {
  [EXCHANGE]?: RequestContext;
}

/** The exchange for which the present code runs; undefined outside of any. */
export function currentRequest(): RequestContext | undefined {
  return scope.getStore();
}

/**
 * A signal that aborts with `reason` when the caller of the current exchange leaves before its answer was sent, or gets
 * the answer of an exchange that failed. Undefined outside of any exchange.
 */
export function callerLeftSignal(reason: () => Error): AbortSignal | undefined {
  const exchange = scope.getStore();
  if (exchange === undefined) return undefined;
  const { response } = exchange;
  const stop = new AbortController();
  const leave = (): void => {
    if (!response.writableFinished || exchange.hasFailed) stop.abort(reason());
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return stop.signal;
}

/** Runs each request in its own scope, so that an error that nothing handles ends this request alone. */
export function withRequestContext(serve: RequestListener): RequestListener {
  return (request, response) => {
    const exchange = exchangeOf(request, response);
    runIn(exchange, () => {
      serve(request, response);
      return true;
    });
  };
}

/**
 * The `emit` of the requests and responses of a server. Their listeners run in the scope of the exchange, also those of a
 * body that arrives later, which Node calls in the scope of the connection. What a listener throws is thrown again in
 * that scope by itself: else it would go through Node's parser, and nobody could tell whose it is.
 */
export function emitInContext(
  this: IncomingMessage | ServerResponse,
  ...event: Parameters<EventEmitter['emit']>
): boolean {
  const emit = (): boolean => EventEmitter.prototype.emit.apply(this, event);
  const exchange = (this as Member)[EXCHANGE];
  return exchange ? runIn(exchange, emit) : emit();
}

/** The exchange of the request, which is served in several steps. */
function exchangeOf(
  request: IncomingMessage & Member,
  response: ServerResponse & Member,
): RequestContext {
  const exchange = request[EXCHANGE] ?? {
    request: request as Request,
    response: response as Response,
  };
  request[EXCHANGE] = exchange;
  response[EXCHANGE] = exchange;
  return exchange;
}

function runIn(exchange: RequestContext, work: () => boolean): boolean {
  return scope.getStore() === exchange ? guarded(work) : scope.run(exchange, guarded, work);
}

function guarded(work: () => boolean): boolean {
  try {
    return work();
  } catch (error) {
    process.nextTick(rethrow, error);
    return true;
  }
}

function rethrow(error: unknown): never {
  throw error;
}
