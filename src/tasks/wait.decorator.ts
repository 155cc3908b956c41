import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { setSandboxHeader } from '../platform/http-server/responses/gateway-headers.js';
import type { AwaitedTask, WaitPreference } from './reads/tasks.service.js';
import type { Task } from './task.js';

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

const MAX_WAIT_SECONDS = 60;
const SECONDS = /^(?:"([0-9]{1,9})"|([0-9]{1,9}))$/;

/**
 * Seconds of `wait` in a `Prefer` header, alone or in a list of preferences. Undefined when it is absent or not 1 to
 * 60, because RFC 7240 says to ignore invalid preferences (decision G-98).
 */
export function waitSecondsOf(prefer: string | undefined): number | undefined {
  for (const preference of (prefer ?? '').split(',')) {
    const [token = ''] = preference.split(';');
    // One regular expression over the whole header could backtrack over its many spaces.
    const [name = '', ...value] = token.split('=');
    const isWait = name.trim().toLowerCase() === 'wait';
    const match = isWait ? SECONDS.exec(value.join('=').trim()) : null;
    // Only the first `wait` counts.
    if (match) return within(Number(match[1] ?? match[2]));
  }
  return undefined;
}

function within(seconds: number): number | undefined {
  return seconds >= 1 && seconds <= MAX_WAIT_SECONDS ? seconds : undefined;
}
