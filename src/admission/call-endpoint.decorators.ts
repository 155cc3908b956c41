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
import { ApiBearerAuth, ApiConsumes, ApiTags } from '@nestjs/swagger';
import { API_KEY_SCHEME, KEY_GUARDS } from '../auth/api-key-auth.decorator.js';
import { NeedsScope } from '../auth/scope.guard.js';
import { ErrorResponses } from '../common/errors/error-responses.decorator.js';
import type { ErrorCode } from '../common/errors/error-table.js';
import { JsonBodyGuard } from '../platform/http-server/request-body/json-body.guard.js';
import type { Dto } from '../common/validation/fields.js';
import { FormBody, MediaBodyGuard } from '../media/media-body.guard.js';
import type { CallDecorator } from './admitted-call.js';
import { RunGuard, RunHeaders } from './run.guard.js';
import { ModelGuard, OPERATION } from './model.guard.js';
import { NoIdempotencyKeyGuard } from './no-idempotency-key.guard.js';
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
const AUDIO: readonly ErrorCode[] = [
  'idempotency_not_supported',
  'insufficient_funds',
  'model_not_available',
];
const GENERAL: readonly ErrorCode[] = [
  'insufficient_user_quota',
  'model_not_found',
  'model_wrong_kind',
];

/** Errors of an endpoint that accepts a recording. */
const MEDIA: readonly ErrorCode[] = [
  'audio_input_required',
  'invalid_multipart',
  'unsupported_audio_format',
  'audio_too_long',
  'audio_download_failed',
  'audio_too_large',
];

/**
 * A synchronous audio endpoint that takes JSON, at the path of its operation. The guards run in the order of checks: key, rate limit, idempotency
 * header, body, model. The body's other fields are checked by its pipe (decision G-01).
 */
export function AudioEndpoint<const O extends Operation>(
  operation: O,
  ...codes: ErrorCode[]
): CallDecorator<O> {
  return paidAudio(operation, JsonBodyGuard, codes);
}

/**
 * As {@link AudioEndpoint}, for a recording in a form or by URL; `body` is the class of the other fields. JSON is
 * accepted too, but the OpenAPI document offers the form alone: a generated client that may choose sends JSON, which
 * cannot contain a file.
 */
export function RecordingEndpoint<const O extends Operation>(
  operation: O,
  body: Dto,
  ...codes: ErrorCode[]
): CallDecorator<O> {
  return applyDecorators(
    FormBody(body),
    ApiConsumes('multipart/form-data'),
    paidAudio(operation, MediaBodyGuard, [...codes, ...MEDIA]),
  );
}

function paidAudio(
  operation: Operation,
  bodyGuard: typeof JsonBodyGuard | typeof MediaBodyGuard,
  codes: readonly ErrorCode[],
): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    OperationEndpoint(operation),
    UseGuards(...KEY_GUARDS, NoIdempotencyKeyGuard, RunGuard, bodyGuard, ModelGuard),
    RunHeaders(),
    ApiBearerAuth(API_KEY_SCHEME),
    ErrorResponses(...codes, ...AUDIO, ...EVERYWHERE),
  );
}

/**
 * A synchronous endpoint outside audio. As {@link AudioEndpoint}, but an idempotency header is ignored (decision G-48).
 */
export function GeneralEndpoint<const O extends Operation>(
  operation: O,
  ...codes: ErrorCode[]
): CallDecorator<O> {
  return general(operation, OPERATIONS[operation].path, codes);
}

/** Another endpoint of text. */
export interface TextFace {
  /** One of the faces in `OPERATIONS`. */
  readonly path: string;
  /** Checks the model. Default: {@link ModelGuard}. */
  readonly modelGuard?: Type<CanActivate>;
}

/** As {@link GeneralEndpoint}, for another endpoint of text. */
export function TextEndpoint(
  { path, modelGuard }: TextFace,
  ...codes: ErrorCode[]
): CallDecorator<'chat'> {
  return general('chat', path, codes, modelGuard);
}

function general(
  operation: Operation,
  path: string,
  codes: readonly ErrorCode[],
  modelGuard: Type<CanActivate> = ModelGuard,
): MethodDecorator {
  return applyDecorators(
    HttpCode(200),
    OperationEndpoint(operation, path),
    UseGuards(...KEY_GUARDS, RunGuard, JsonBodyGuard, modelGuard),
    RunHeaders(),
    ApiBearerAuth(API_KEY_SCHEME),
    ErrorResponses(...codes, ...GENERAL, ...EVERYWHERE),
  );
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
