import { applyDecorators } from '@nestjs/common';
import { ApiConsumes } from '@nestjs/swagger';
import type { CallDecorator } from '../admission/admitted-call.js';
import { CallEndpoint, type CallFace } from '../admission/call-endpoint.decorators.js';
import { NoIdempotencyKeyGuard } from '../admission/no-idempotency-key.guard.js';
import type { ErrorCode } from '../common/errors/error-table.js';
import type { Dto } from '../common/validation/fields.js';
import { FormBody, MediaBodyGuard } from '../media/media-body.guard.js';
import { Deferrable, DEFERRABLE, DEFERRED_CODES } from '../tasks/deferred/deferrable.decorator.js';
import type { AudioCallOperation } from './audio-work.js';

const AUDIO: readonly ErrorCode[] = [
  'idempotency_not_supported',
  'insufficient_funds',
  'model_not_available',
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

/** A synchronous audio endpoint that takes JSON, at the path of its operation. */
export function AudioEndpoint<const O extends AudioCallOperation>(
  operation: O,
  ...codes: ErrorCode[]
): CallDecorator<O> {
  return paidAudio(operation, { codes });
}

/**
 * As {@link AudioEndpoint}, for a recording in a form or by URL; `body` is the class of the other fields. JSON is
 * accepted too, but the OpenAPI document offers the form alone: a generated client that may choose sends JSON, which
 * cannot contain a file.
 */
export function RecordingEndpoint<const O extends AudioCallOperation>(
  operation: O,
  body: Dto,
  ...codes: ErrorCode[]
): CallDecorator<O> {
  const form = { bodyGuard: MediaBodyGuard, codes: [...codes, ...MEDIA] };
  return applyDecorators(
    FormBody(body),
    ApiConsumes('multipart/form-data'),
    paidAudio(operation, form),
  );
}

function paidAudio(operation: AudioCallOperation, face: CallFace): MethodDecorator {
  const codes = [...face.codes, ...AUDIO, ...DEFERRED_CODES];
  const keyGuard = NoIdempotencyKeyGuard;
  return applyDecorators(
    Deferrable(),
    CallEndpoint(operation, { ...face, ...DEFERRABLE, keyGuard, codes }),
  );
}
