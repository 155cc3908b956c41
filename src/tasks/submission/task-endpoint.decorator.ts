import {
  applyDecorators,
  type CanActivate,
  HttpCode,
  type Type,
  UseGuards,
  UseInterceptors,
  SetMetadata,
} from '@nestjs/common';
import { ApiBearerAuth, ApiHeader } from '@nestjs/swagger';
import type { CallDecorator } from '../../admission/admitted-call.js';
import { OperationEndpoint } from '../../admission/call-endpoint.decorators.js';
import { RouteHeader } from '../../admission/route-choice.js';
import { RunGuard, RunHeaders } from '../../admission/run.guard.js';
import { API_KEY_SCHEME, KEY_GUARDS } from '../../auth/api-key-auth.decorator.js';
import type { Operation } from '../../providers/ports/provider-ports.js';
import { ErrorResponses } from '../../common/errors/error-responses.decorator.js';
import type { ErrorCode } from '../../common/errors/error-table.js';
import { JsonBodyGuard } from '../../platform/http-server/request-body/json-body.guard.js';
import { IdempotencyKeyGuard } from '../../admission/idempotency-key.guard.js';
import type { Task } from '../task.js';
import { TaskModelGuard } from './task-model.guard.js';
import { TASK_RESPONSE_BODY, TaskResponseInterceptor } from './task-response.interceptor.js';

const CODES: readonly ErrorCode[] = [
  'invalid_content_type',
  'invalid_quote',
  'invalid_token',
  'account_disabled',
  'conflict',
  'quote_expired',
  'permission_denied',
  'api_key_model_not_allowed',
  'idempotency_conflict',
  'request_too_large',
  'rate_limit_exceeded',
  'internal_error',
  'no_eligible_route',
  'service_unavailable',
];

/** OpenAPI: the headers that name the new task (API: Task states). */
export const TASK_HEADERS = {
  Location: { description: 'Path of the task', schema: { type: 'string' } },
  'x-gateway-task-id': { description: 'Id of the task', schema: { type: 'string' } },
} as const;

/** How the endpoint differs from that of an audio task. */
export interface TaskEndpointOptions {
  /** Default 202. */
  readonly status?: number;
  /** Reads the body. Default: {@link JsonBodyGuard}. */
  readonly bodyGuard?: Type<CanActivate>;
  /** Makes the response body. Default: the `view` of the task's kind. */
  readonly toBody?: (task: Task) => object;
  /** Error codes of this endpoint beyond those of all task endpoints. */
  readonly codes: readonly ErrorCode[];
}

/**
 * An endpoint that submits a task, at the path of its operation. Its handler returns the {@link Task}; the decorator writes the response body, `Location` and
 * `x-gateway-task-id`. The guards run in the order of checks: key, rate limit, idempotency header, body, replay, model. The
 * pipe of the body checks its other fields (decision G-01).
 */
export function TaskEndpoint<const O extends Operation>(
  operation: O,
  options: TaskEndpointOptions,
): CallDecorator<O> {
  const { status = 202, bodyGuard = JsonBodyGuard, toBody, codes } = options;
  return applyDecorators(
    HttpCode(status),
    OperationEndpoint(operation),
    SetMetadata(TASK_RESPONSE_BODY, toBody),
    UseGuards(...KEY_GUARDS, IdempotencyKeyGuard, RunGuard, bodyGuard, TaskModelGuard),
    UseInterceptors(TaskResponseInterceptor),
    ApiBearerAuth(API_KEY_SCHEME),
    RunHeaders(),
    RouteHeader(),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description: 'A retry with the same key and body returns the same task',
      schema: { type: 'string', minLength: 1, maxLength: 200 },
    }),
    ErrorResponses(...codes, ...CODES),
  );
}
