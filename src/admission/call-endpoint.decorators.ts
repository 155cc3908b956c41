import assert from 'node:assert/strict';
import type { Operation } from '../providers/ports/provider-ports.js';
import {
  applyDecorators,
  type CanActivate,
  HttpCode,
  UseGuards,
  Post,
  SetMetadata,
  type Type,
} from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { API_KEY_SCHEME, KEY_GUARDS } from '../auth/api-key-auth.decorator.js';
import { NeedsScope } from '../auth/scope.guard.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import type { ErrorCode } from '../common/errors/error-table.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import type { CallDecorator } from './admitted-call.js';
import { RouteHeader } from './route-choice.js';
import { RunGuard, RunHeaders } from './run.guard.js';
import { CallKeyHeader, CallModelGuard } from './kept/call-model.guard.js';
import { OPERATION } from './model.guard.js';
import { PreferHeader } from './preferences.js';
import { endpointsOf, OPERATIONS } from '../catalog/operations.js';

const EVERYWHERE: readonly ErrorCode[] = [
  'invalid_request',
  'invalid_quote',
  'invalid_content_type',
  'provider_rejected_request',
  'invalid_token',
  'account_disabled',
  'conflict',
  'quote_expired',
  'permission_denied',
  'api_key_model_not_allowed',
  'request_too_large',
  'rate_limit_exceeded',
  'provider_rate_limited',
  'internal_error',
  'provider_http_error',
  'provider_timeout',
  'no_eligible_route',
  'provider_unavailable',
  'service_unavailable',
];
const GENERAL: readonly ErrorCode[] = [
  'idempotency_conflict',
  'insufficient_user_quota',
  'model_not_found',
  'model_wrong_kind',
];

/** How the endpoint of a paid call differs from most: its path, its guards, what else is told of it. */
export interface CallFace {
  /** One of the faces in `OPERATIONS`. Default: that of the operation. */
  readonly path?: string;
  /** Checks the header `Idempotency-Key` before the body is read. */
  readonly keyGuard?: Type<CanActivate>;
  /** Reads the body. Default: {@link JsonBodyGuard}. */
  readonly bodyGuard?: Type<CanActivate>;
  /** Checks the model. Default: {@link CallModelGuard}. */
  readonly modelGuard?: Type<CanActivate>;
  /** After that of the model. */
  readonly furtherGuards?: readonly Type<CanActivate>[];
  /** What the header `Prefer` may have beside `keep`, for the document. */
  readonly preferences?: string;
  /** Error codes of this endpoint. */
  readonly codes: readonly ErrorCode[];
}

/**
 * The endpoint of a synchronous paid call. The guards run in the order of checks: key, rate limit, idempotency header, run, body,
 * model. The body's other fields are checked by its pipe (decision G-01).
 */
export function CallEndpoint(operation: Operation, face: CallFace): MethodDecorator {
  const { keyGuard, bodyGuard = JsonBodyGuard, modelGuard = CallModelGuard } = face;
  const ofKey = keyGuard ? [keyGuard] : [];
  const others = face.furtherGuards ?? [];
  return applyDecorators(
    HttpCode(200),
    OperationEndpoint(operation, face.path),
    UseGuards(...KEY_GUARDS, ...ofKey, RunGuard, bodyGuard, modelGuard, ...others),
    RunHeaders(),
    RouteHeader(),
    PreferHeader(face.preferences),
    ApiBearerAuth(API_KEY_SCHEME),
    ErrorResponses(...face.codes, ...EVERYWHERE),
  );
}

/** A synchronous endpoint outside audio, which takes JSON and an `Idempotency-Key` (decision G-48). */
export function GeneralEndpoint<const O extends Operation>(
  operation: O,
  ...codes: ErrorCode[]
): CallDecorator<O> {
  return general(operation, { codes });
}

/** Another endpoint of text. */
export type TextFace = Pick<CallFace, 'modelGuard'> & { readonly path: string };

/** As {@link GeneralEndpoint}, for another endpoint of text. */
export function TextEndpoint(face: TextFace, ...codes: ErrorCode[]): CallDecorator<'chat'> {
  return general('chat', { ...face, codes });
}

/** As {@link GeneralEndpoint}, with guards or a path of its own. */
export function GeneralEndpointAs<const O extends Operation>(
  operation: O,
  face: CallFace,
): CallDecorator<O> {
  return general(operation, face);
}

function general(operation: Operation, face: CallFace): MethodDecorator {
  const codes = [...face.codes, ...GENERAL];
  return applyDecorators(CallEndpoint(operation, { ...face, codes }), CallKeyHeader());
}

/**
 * The handler serves the operation, for keys with scope `call`: at its path or another of its endpoints, and in the group of
 * that on the page of the API.
 */
export function OperationEndpoint(
  operation: Operation,
  at: string = OPERATIONS[operation].path,
): MethodDecorator {
  const endpoint = endpointsOf(operation).find(({ path }) => path === at);
  assert(endpoint, `${operation} has no endpoint ${at}`);
  const { path, tag } = endpoint;
  return applyDecorators(
    Post(path),
    ApiTags(tag),
    NeedsScope('call'),
    SetMetadata(OPERATION, operation),
  );
}
