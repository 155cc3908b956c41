import { ApiOkResponse, ApiProduces } from '@nestjs/swagger';
import { applyDecorators, type Type } from '@nestjs/common';
import {
  AUDIO_CONTENT_TYPES,
  type ResponseFormat,
} from '../platform/http-server/responses/audio-response.js';
import { CHARGE_HEADER } from '../platform/http-server/responses/gateway-headers.js';
import { EXECUTION_ID_HEADER } from '../platform/http-server/responses/execution-id.js';

const BINARY = { schema: { type: 'string', format: 'binary' } };
const TEXT = { schema: { type: 'string' } };
const HEADERS = {
  [EXECUTION_ID_HEADER]: { description: 'Quote it to support', ...TEXT },
  [CHARGE_HEADER]: { description: 'The charge in micro-USD', ...TEXT },
};

/** Documents a response whose body is audio in one of these formats. */
export function AudioResponse(...formats: ResponseFormat[]): MethodDecorator {
  const types = formats.map((format) => AUDIO_CONTENT_TYPES[format]);
  return applyDecorators(
    ApiProduces(...types),
    ApiOkResponse({
      description: 'The audio',
      content: Object.fromEntries(types.map((type) => [type, BINARY])),
      headers: HEADERS,
    }),
  );
}

/** Documents a JSON response about audio. */
export function AudioDataResponse(type: Type): MethodDecorator {
  return ApiOkResponse({ type, headers: HEADERS });
}
