import assert from 'node:assert/strict';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller } from '../../auth/caller.js';

/** The account that reads a file, by a key or by a link. */
export type ContentReader = Pick<Caller, 'accountId'>;

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the content reader guard for the holder of a link. */
    linkHolder?: ContentReader;
  }
}

/** The reader that {@link ContentReaderGuard} accepted. */
export const CurrentReader = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ContentReader => {
    const { caller, linkHolder } = context.switchToHttp().getRequest<Request>();
    const reader = linkHolder ?? caller;
    assert(reader, 'CurrentReader needs ContentReaderGuard on the endpoint');
    return reader;
  },
);
