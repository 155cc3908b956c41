import type { IncomingMessage } from 'node:http';

/** What posts work, what reads, and everything else: health checks, the operator, preflights. */
export type RequestPriority = 'calls' | 'reads' | 'others';

const NOT_CALLERS = /^\/(?:health|admin|metrics)(?:[/?]|$)/;

/** The lane is decided by the method, except for preflights and for paths that only operators and health checks use. */
export function requestPriorityOf({ method, url = '' }: IncomingMessage): RequestPriority {
  if (method === 'OPTIONS' || NOT_CALLERS.test(url)) return 'others';
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'calls';
}
