import { applyDecorators, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import { AdminGuard } from './admin.guard.js';
import { OperatorActionsInterceptor } from './operator-actions.interceptor.js';

/** Name of the operator's bearer scheme in the OpenAPI document. */
export const ADMIN_SCHEME = 'admin-token';

/** An endpoint of the operator API. */
export function OperatorEndpoint(): ClassDecorator & MethodDecorator {
  return applyDecorators(
    UseGuards(AdminGuard),
    UseInterceptors(OperatorActionsInterceptor),
    ApiTags('admin'),
    ApiBearerAuth(ADMIN_SCHEME),
    ErrorResponses(
      'invalid_request',
      'invalid_token',
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
