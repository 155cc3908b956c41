import assert from 'node:assert/strict';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from './caller.js';

/** The caller that the bearer guard has accepted. */
export const CurrentCaller = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Caller => {
    const { caller } = context.switchToHttp().getRequest<Request>();
    assert(caller, 'CurrentCaller stands behind the bearer guard');
    return caller;
  },
);
