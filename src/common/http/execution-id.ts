import type { NextFunction, Request, Response } from 'express';
import { toPublicId } from '../ids/public-id.js';
import { timeOrderedUuid } from '../ids/time-ordered-uuid.js';
import type { Clock } from '../time/clock.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** UUID of this request; the id of its execution where it becomes a paid call. */
    executionId: string;
  }
}

/** Header that names a call to support (spec: shared audio rules). */
export const EXECUTION_ID_HEADER = 'x-gateway-execution-id';

/** Middleware: gives each request its execution id and sends it back on every answer (decision G-47). */
export function executionId(clock: Clock) {
  return (request: Request, response: Response, next: NextFunction): void => {
    request.executionId = timeOrderedUuid(clock.nowMs());
    const publicId = toPublicId('exec', request.executionId);
    response.setHeader(EXECUTION_ID_HEADER, publicId);
    response.setHeader('x-request-id', publicId);
    next();
  };
}
