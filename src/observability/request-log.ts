import type { NextFunction, Request, Response } from 'express';
import type { Logger } from 'pino';
import { toPublicId } from '../common/ids/public-id.js';
import type { Metrics } from './metrics.js';

const UNMATCHED = 'unmatched';

/**
 * Middleware: one log line and one observation per answer. Logged are method, route, status, duration, ids and
 * the client's address (of a trusted proxy, whom it names);
 * never headers, query or bodies.
 */
export function requestLog(logger: Logger, metrics: Metrics) {
  return (request: Request, response: Response, next: NextFunction): void => {
    const startNs = process.hrtime.bigint();
    response.once('close', () => {
      const seconds = Number(process.hrtime.bigint() - startNs) / 1e9;
      const route = routeOf(request);
      metrics.requests.inc({ method: request.method, route, status: response.statusCode });
      metrics.requestSeconds.observe({ method: request.method, route }, seconds);
      logger.info(
        {
          execution_id: toPublicId('exec', request.executionId),
          method: request.method,
          route,
          status: response.statusCode,
          complete: response.writableFinished,
          address: request.ip,
          duration_ms: Math.round(seconds * 1e6) / 1e3,
        },
        'request',
      );
    });
    next();
  };
}

/** The route's pattern, never the raw path: paths carry ids and would grow the metrics without bound. */
function routeOf(request: Request): string {
  const { route } = request as { route?: { path?: unknown } };
  return typeof route?.path === 'string' ? route.path : UNMATCHED;
}
