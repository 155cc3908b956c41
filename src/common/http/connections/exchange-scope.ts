import { AsyncLocalStorage } from 'node:async_hooks';
import type { RequestListener } from 'node:http';
import type { Request, Response } from 'express';
import { type StopSignal, StopSource } from '../../stop-signal.js';

/** A request and its answer. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
}

const scope = new AsyncLocalStorage<Exchange>();

/** The exchange for which the present code runs; undefined outside of any. */
export function currentExchange(): Exchange | undefined {
  return scope.getStore();
}

/**
 * A signal that aborts with `reason` when the caller of the current exchange leaves before its answer was sent. Undefined
 * outside of any exchange.
 */
export function callerLeftSignal(reason: () => Error): StopSignal | undefined {
  const response = scope.getStore()?.response;
  if (response === undefined) return undefined;
  const stop = new StopSource();
  const leave = (): void => {
    if (!response.writableFinished) stop.abort(reason());
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return stop;
}

/** Runs each request in its own scope, so that an unhandled error can be traced to its request. */
export function withExchangeScope(serve: RequestListener): RequestListener {
  return (request, response) => {
    const exchange = { request: request as Request, response: response as Response };
    scope.run(exchange, serve, request, response);
  };
}
