import type { NextFunction, Request, Response } from 'express';

/** What a process that drains serves to its end: whoever watches and operates it. */
const SERVED_TO_THE_END = /^\/(health|metrics|admin|console)(\/|$)/;

/**
 * Counts requests whose response has not ended. Before a process ends, `announce` makes every answer close its connection,
 * and then `drain` refuses new calls.
 */
export class InFlight {
  private phase: 'serving' | 'leaving' | 'draining' = 'serving';
  private open = 0;

  get count(): number {
    return this.open;
  }

  /** From now on each answer has `Connection: close`, so that the client's next request reaches another process. */
  announce(): void {
    this.phase = 'leaving';
  }

  /** Refuses new requests from now on, except those of whoever watches and operates the process. */
  drain(): void {
    this.phase = 'draining';
  }

  /** Middleware. Counts requests, and refuses them during the drain. */
  watch(refuse: (request: Request, response: Response) => void) {
    return (request: Request, response: Response, next: NextFunction): void => {
      if (this.phase !== 'serving') response.setHeader('Connection', 'close');
      if (this.phase === 'draining' && !SERVED_TO_THE_END.test(request.path)) {
        refuse(request, response);
        return;
      }
      this.open += 1;
      response.on('close', () => {
        this.open -= 1;
      });
      next();
    };
  }
}
