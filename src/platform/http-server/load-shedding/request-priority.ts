import type { IncomingMessage } from 'node:http';

/** `calls` order work, `reads` read; `others` are health checks, the operator and preflights. */
export type RequestPriority = 'calls' | 'reads' | 'others';

const NOT_CALLERS = /^\/(?:health|admin|metrics)(?:[/?]|$)/;

/**
 * The priority of a request by its method, except for preflights and for paths that only operators and health checks
 * use.
 */
export function requestPriorityOf({ method, url = '' }: IncomingMessage): RequestPriority {
  if (method === 'OPTIONS' || NOT_CALLERS.test(url)) return 'others';
  return method === 'GET' || method === 'HEAD' ? 'reads' : 'calls';
}
