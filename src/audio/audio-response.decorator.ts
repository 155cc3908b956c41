import { ApiOkResponse, ApiProduces } from '@nestjs/swagger';
import { applyDecorators, type Type } from '@nestjs/common';
import {
  AUDIO_CONTENT_TYPES,
  type AudioFormatName,
} from '../platform/http-server/responses/audio-response.js';
import { KEPT_HEADERS } from '../platform/http-server/responses/answer-copy.js';
import { CHARGE_HEADERS } from '../platform/http-server/responses/gateway-headers.js';

const BINARY = { schema: { type: 'string', format: 'binary' } };

/** Documents a response whose body is audio in one of these formats. */
export function AudioResponse(...formats: AudioFormatName[]): MethodDecorator {
  const types = formats.map((format) => AUDIO_CONTENT_TYPES[format]);
  return applyDecorators(
    ApiProduces(...types),
    ApiOkResponse({
      description: 'The audio',
      content: Object.fromEntries(types.map((type) => [type, BINARY])),
      headers: { ...CHARGE_HEADERS, ...KEPT_HEADERS },
    }),
  );
}

/** Documents a JSON response about audio. */
export function AudioDataResponse(type: Type): MethodDecorator {
  return ApiOkResponse({ type, headers: { ...CHARGE_HEADERS, ...KEPT_HEADERS } });
}
