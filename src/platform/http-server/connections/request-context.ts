import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Request, Response } from 'express';

/** A request and its response. */
export interface RequestContext {
  readonly request: Request;
  readonly response: Response;
  /** Set once the request was ended by an uncaught error. */
  hasFailed?: boolean;
}

const scope = new AsyncLocalStorage<RequestContext>();
const EXCHANGE = Symbol('exchange');

/** State of the exchange that exists only after it has begun. */
interface Member {
  [EXCHANGE]?: RequestContext;
}

/** The exchange of the running code; undefined outside of any. */
export function currentRequest(): RequestContext | undefined {
  return scope.getStore();
}

/** The exchange of a response; undefined for one of another server. */
export function requestContextOf(response: ServerResponse): RequestContext | undefined {
  return (response as Member)[EXCHANGE];
}

/** Runs each request in its own context, so that an uncaught error ends this request alone. */
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
 * The `emit` of the requests and responses of a server. Their listeners run in the context of the exchange, also those
 * of a body that arrives later, which Node calls in the context of the connection. An error of a listener is thrown
 * again in that context: otherwise it would pass through Node's parser, and its request would be unknown.
 */
export function emitInContext(
  this: IncomingMessage | ServerResponse,
  ...event: Parameters<EventEmitter['emit']>
): boolean {
  const emit = (): boolean => EventEmitter.prototype.emit.apply(this, event);
  const exchange = (this as Member)[EXCHANGE];
  return exchange ? runIn(exchange, emit) : emit();
}

/** The exchange of the request; created at the first call. */
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
