import { Readable } from 'node:stream';
import { ProviderError } from '../http/provider-error.js';
import { NO_ROOM, type ProviderErrorKind, TOO_LATE } from '../ports/attempt.js';
import type { Permit } from './circuit-breaker.js';

/** Failures that count against the route. Other rejections and rate limits do not count. */
const ROUTE_FAILURES: readonly ProviderErrorKind[] = [
  'timeout',
  'http_error',
  'unavailable',
  'account',
];

/** Causes of our own, for which nothing was sent. */
const OURS: readonly (string | undefined)[] = [TOO_LATE, NO_ROOM];

/**
 * Tells the breaker that the attempt succeeded. Where its result has a `body` stream, what becomes of the stream is told, once it has
 * ended.
 */
export function settleWhenDone(permit: Permit, result: unknown): void {
  const body: unknown = (result as { body?: unknown } | null | undefined)?.body;
  if (!(body instanceof Readable)) {
    permit.succeeded();
    return;
  }
  // Not `finished` of `node:stream`: it would keep 1.5 kB more for each open stream.
  const failed = (error: Error): void => {
    settleFailed(permit, error);
  };
  const closed = (): void => {
    if (body.errored) return;
    if (body.readableEnded) permit.succeeded();
    else permit.abandoned();
  };
  // A body that broke before would leave a testing breaker without an outcome.
  if (body.closed && body.errored) failed(body.errored);
  else if (body.closed) closed();
  // The event carries the provider's failure; `errored` is the error that broke the connection.
  else body.on('error', failed).on('close', closed);
}

/** Tells the breaker of a failed attempt. One that was the caller's, or {@link OURS}, says nothing of the route. */
export function settleFailed(permit: Permit, error: unknown): void {
  const isOurs = error instanceof ProviderError && !error.sent && OURS.includes(error.upstreamCode);
  const isOfRoute = error instanceof ProviderError && ROUTE_FAILURES.includes(error.kind);
  if (isOfRoute && !isOurs) permit.failed();
  else permit.abandoned();
}
