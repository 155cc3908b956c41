import type { ServerResponse } from 'node:http';
import { requestContextOf } from './request-context.js';

/**
 * A signal that aborts with `reason` when the caller disconnects before this response was sent, or when the request has
 * failed.
 */
export function callerLeftSignal(response: ServerResponse, reason: () => Error): AbortSignal {
  const stop = new AbortController();
  const leave = (): void => {
    const hasFailed = requestContextOf(response)?.hasFailed === true;
    if (!response.writableFinished || hasFailed) stop.abort(reason());
  };
  if (response.closed) leave();
  else response.once('close', leave);
  return stop.signal;
}
