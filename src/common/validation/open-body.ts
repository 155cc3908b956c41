import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { isJsonObject } from '../json-object.js';
import { type CompiledValidator, validatorOf } from './compiled-validator.js';
import type { Dto } from './fields.js';

/** Header with which a caller wants unknown fields to be refused. */
const STRICT_HEADER = 'x-gateway-strict';

/** A body, and the names of its fields that nobody knows. */
export interface OpenBody<T> {
  readonly body: T;
  readonly ignored: readonly string[];
  /** Whether the caller wants everything to be refused that would be left out. */
  readonly isStrict: boolean;
}

/** `@OpenBodyOf(ResponsesBody) sent: OpenBody<ResponsesBody>`; see {@link parseOpenBody}. */
export const OpenBodyOf = createParamDecorator(
  (dto: Dto, context: ExecutionContext): OpenBody<object> => {
    const request = context.switchToHttp().getRequest<Request>();
    return parseOpenBody(validatorOf(dto), request.body, request.get(STRICT_HEADER) === 'true');
  },
);

/** OpenAPI: the header. */
export const STRICT_HEADERS = {
  name: STRICT_HEADER,
  required: false,
  description: 'With `true`, fields that nobody knows are refused instead of left out',
  schema: { type: 'string', enum: ['true', 'false'] },
};

/**
 * The body of an endpoint whose clients gain fields every week: unknown fields at its top are left out and returned by name,
 * unless `isStrict` (decision G-107). Throws as {@link CompiledValidator.parse} does.
 */
export function parseOpenBody<T extends object>(
  validator: CompiledValidator<T>,
  body: unknown,
  isStrict: boolean,
): OpenBody<T> {
  const names = new Set(validator.fields.map(({ name }) => name));
  const sent = isJsonObject(body) ? Object.keys(body) : [];
  const ignored = isStrict ? [] : sent.filter((name) => !names.has(name));
  if (ignored.length === 0 || !isJsonObject(body)) {
    return { body: validator.parse(body), ignored, isStrict };
  }
  const known = Object.entries(body).filter(([name]) => names.has(name));
  return { body: validator.parse(Object.fromEntries(known)), ignored, isStrict };
}
