import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isJsonObject } from '../json-object.js';

/**
 * The fields of a JSON body that are null. In an update request, null clears a field, and an absent field stays
 * unchanged.
 */
export const ClearedFields = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ReadonlySet<string> => {
    const body: unknown = context.switchToHttp().getRequest<Request>().body;
    return new Set(
      isJsonObject(body) ? Object.keys(body).filter((name) => body[name] === null) : [],
    );
  },
);
