import {
  applyDecorators,
  UseGuards,
  createParamDecorator,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiQuery } from '@nestjs/swagger';
import { API_KEY_SCHEME } from '../../auth/api-key-auth.decorator.js';
import { ErrorResponses } from '../../common/errors/error-responses.decorator.js';
import { NotModifiedResponse } from '../../platform/http-server/responses/entity-tag.js';
import { NeedsScope } from '../../auth/scope.guard.js';
import { ContentReaderGuard } from './content-reader.guard.js';
import assert from 'node:assert/strict';
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

/** The endpoint of a file, for holders of keys and of links (decision G-104). Its handler takes a `@CurrentReader()`. */
export function ContentEndpoint(): MethodDecorator {
  return applyDecorators(
    NeedsScope('call'),
    UseGuards(ContentReaderGuard),
    ApiBearerAuth(API_KEY_SCHEME),
    ApiQuery({
      name: 'expires',
      required: false,
      schema: { type: 'string' },
      description: 'Of a link; with `signature` it stands for the key',
    }),
    ApiQuery({
      name: 'signature',
      required: false,
      schema: { type: 'string' },
      description: 'Of a link; see the endpoints `content-link`',
    }),
    NotModifiedResponse(),
    ApiHeader({ name: 'Range', required: false, description: 'Resumes a partial download' }),
    ErrorResponses(
      'invalid_token',
      'account_disabled',
      'permission_denied',
      'rate_limit_exceeded',
      'task_not_found',
      'content_not_available',
      'task_not_ready',
      'content_expired',
      'range_not_satisfiable',
      'internal_error',
      'service_unavailable',
    ),
  );
}
