import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { setSandboxHeader } from '../platform/http-server/responses/sandbox-header.js';
import type { AwaitedTask, WaitPreference } from './reads/tasks.service.js';
import type { Task } from './task.js';
import { waitSecondsOf } from './reads/prefer-wait.js';

/**
 * The wait that the request asks for (`Prefer: wait=N`, decision G-98); undefined without a wait.
 */
export const Wait = createParamDecorator(
  (_data: unknown, context: ExecutionContext): WaitPreference | undefined => {
    const http = context.switchToHttp();
    const seconds = waitSecondsOf(http.getRequest<Request>().get('prefer'));
    if (seconds === undefined) return undefined;
    const response = http.getResponse<Response>();
    return {
      seconds,
      onDisconnect: (listener) => {
        // The client may have disconnected while the task was looked up.
        if (response.closed) listener();
        else response.once('close', listener);
      },
    };
  },
);

/** OpenAPI: the header that {@link setWaitHeaders} sets. */
export const WAIT_HEADERS = {
  'Preference-Applied': {
    description: 'The wait that was granted, such as `wait=30`',
    schema: { type: 'string' },
  },
} as const;

/** Sets the headers for the sandbox and for an applied `Prefer`, and returns the task. */
export function setWaitHeaders(response: Response, { task, waitSeconds }: AwaitedTask): Task {
  if (waitSeconds !== undefined) response.setHeader('Preference-Applied', `wait=${waitSeconds}`);
  setSandboxHeader(response, task.onSandbox);
  return task;
}
