import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isJsonObject } from '../json-object.js';

/** The fields of a JSON body that are null: where a change is asked for, null clears and absence keeps. */
export const ClearedFields = createParamDecorator(
  (_data: unknown, context: ExecutionContext): ReadonlySet<string> => {
    const body: unknown = context.switchToHttp().getRequest<Request>().body;
    return new Set(
      isJsonObject(body) ? Object.keys(body).filter((name) => body[name] === null) : [],
    );
  },
);
