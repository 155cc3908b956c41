import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
} from '@nestjs/common';
import type { Request } from 'express';
import { GatewayError } from '../common/errors/gateway-error.js';

const HEADER = 'idempotency-key';
const FORM = /^[\x20-\x7e]{1,200}$/;

/** Refuses an `Idempotency-Key` that is empty, too long, repeated or not printable ASCII (decisions G-01, G-87). */
@Injectable()
export class IdempotencyKeyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    checkedIdempotencyKey(context.switchToHttp().getRequest<Request>());
    return true;
  }
}

/** The key of a request, or undefined. Throws 400 for one that {@link IdempotencyKeyGuard} refuses. */
export function checkedIdempotencyKey({
  headers,
  rawHeaders,
}: Pick<Request, 'headers' | 'rawHeaders'>): string | undefined {
  const key = headers[HEADER];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && FORM.test(key) && countOf(rawHeaders) === 1) return key;
  throw new GatewayError(
    'invalid_request',
    'Idempotency-Key must be sent once and have 1 to 200 printable ASCII characters.',
    { param: 'Idempotency-Key' },
  );
}

/** How often the header was sent. Node joins repeated headers with commas, so this counts in the raw list of names and values. */
function countOf(rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === HEADER)
    .length;
}

/** The key that {@link IdempotencyKeyGuard} accepted, or undefined. */
export function idempotencyKeyOf(headers: Request['headers']): string | undefined {
  const key = headers[HEADER];
  return typeof key === 'string' ? key : undefined;
}

/** {@link idempotencyKeyOf} of the request. */
export const IdempotencyKey = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string | undefined =>
    idempotencyKeyOf(context.switchToHttp().getRequest<Request>().headers),
);
