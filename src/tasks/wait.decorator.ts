import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { tellSandbox } from '../platform/http-server/responses/sandbox-answer.js';
import type { AwaitedTask, Patience } from './reads/tasks.service.js';
import type { Task } from './task.js';
import { waitSecondsOf } from './reads/prefer-wait.js';

/**
 * How long the request wants to wait for the end of the task (`Prefer: wait=N`, decision G-98); undefined when it does
 * not want to wait.
 */
export const Wait = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Patience | undefined => {
    const http = context.switchToHttp();
    const seconds = waitSecondsOf(http.getRequest<Request>().get('prefer'));
    if (seconds === undefined) return undefined;
    const response = http.getResponse<Response>();
    return {
      seconds,
      onGone: (listener) => {
        // The reader may have left while the task was looked up.
        if (response.closed) listener();
        else response.once('close', listener);
      },
    };
  },
);

/** In the document: what {@link tellAwaited} confirms. */
export const WAIT_HEADERS = {
  'Preference-Applied': {
    description: 'The wait that was granted, such as `wait=30`',
    schema: { type: 'string' },
  },
} as const;

/** The task. The head says whether the sandbox did its work, and confirms a valid `Prefer`. */
export function tellAwaited(response: Response, { task, waitSeconds }: AwaitedTask): Task {
  if (waitSeconds !== undefined) response.setHeader('Preference-Applied', `wait=${waitSeconds}`);
  tellSandbox(response, task.onSandbox);
  return task;
}
