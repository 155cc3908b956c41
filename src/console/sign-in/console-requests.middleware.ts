import type { NextFunction, Request, Response } from 'express';
import type { ConsoleRequests } from './console-requests.js';

/** Middleware: hands the calls of the page on to the handlers of their paths. `refuse` answers those that are not admitted. */
export function consoleRequests(
  requests: ConsoleRequests,
  refuse: (error: unknown, request: Request, response: Response) => void,
) {
  return (request: Request, response: Response, next: NextFunction): void => {
    if (!requests.concerns(request)) {
      next();
      return;
    }
    requests.admit(request, response).then(
      () => {
        next();
      },
      (error: unknown) => {
        refuse(error, request, response);
      },
    );
  };
}
