import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiTags } from '@nestjs/swagger';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { AdminGuard } from './admin.guard.js';
import { ShownByRoleInterceptor } from './shown-by-role.interceptor.js';
import { OperatorActionsInterceptor } from './operator-actions.interceptor.js';

/** Name of the operator's bearer scheme in the OpenAPI document. */
export const ADMIN_SCHEME = 'admin-token';

/** An endpoint of the operator API. */
export function OperatorEndpoint(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    UseGuards(AdminGuard),
    // The record has all; what the role does not show is left out of the answer.
    UseInterceptors(ShownByRoleInterceptor, OperatorActionsInterceptor),
    ApiTags('admin'),
    ApiBearerAuth(ADMIN_SCHEME),
    ErrorResponses(
      'invalid_request',
      'invalid_token',
      'permission_denied',
      'not_found',
      'conflict',
      'idempotency_conflict',
      'rate_limit_exceeded',
      'internal_error',
      'service_unavailable',
    ),
  );
}

/** An operator endpoint's handler that takes a JSON body. */
export function TakesJson(): MethodDecorator {
  return UseGuards(JsonBodyGuard);
}

/**
 * Documents the header by which a movement of money happens once. It has no example, for Swagger UI would send the same key
 * with each credit, and only the first one would move money.
 */
export function IdempotencyKeyHeader({ required }: { readonly required: boolean }) {
  return ApiHeader({
    name: 'Idempotency-Key',
    required,
    description:
      'A name of your own for this movement of money, such as the number of an invoice. Sent again, it answers the same entry and moves nothing',
    schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[!-~]+$' },
  });
}
