import type { NextFunction, Request, Response } from 'express';

/** Counts requests whose response has not ended. During the drain, `refuse` responds to new requests. */
export class InFlight {
  private draining = false;
  private open = 0;

  get count(): number {
    return this.open;
  }

  /** Refuses new requests from now on, except those of the health endpoints. */
  drain(): void {
    this.draining = true;
  }

  /** Middleware. Counts requests, and refuses them during the drain. */
  watch(refuse: (request: Request, response: Response) => void) {
    return (request: Request, response: Response, next: NextFunction): void => {
      if (this.draining) {
        response.setHeader('Connection', 'close');
        if (!request.path.startsWith('/health/')) {
          refuse(request, response);
          return;
        }
      }
      this.open += 1;
      response.on('close', () => {
        this.open -= 1;
      });
      next();
    };
  }
}
