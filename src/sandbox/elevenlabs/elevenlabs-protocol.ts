import type { Protocol, WireError } from '../http/protocol.js';
import { createClipCache } from '../media/clip-cache.js';
import { textToSpeech } from './text-to-speech.js';

/** Type and code words of an error status where the fault itself names none. */
const WORDS: Readonly<Record<number, readonly [type: string, code: string]>> = {
  400: ['invalid_request', 'invalid_request'],
  401: ['authentication_error', 'invalid_api_key'],
  402: ['payment_required', 'insufficient_credits'],
  403: ['authorization_error', 'missing_permissions'],
  404: ['not_found', 'not_found'],
  422: ['validation_error', 'invalid_parameters'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
};

/** ElevenLabs: `xi-api-key`, JSON or multipart in, audio or JSON out, errors as `{detail}`. */
export function elevenLabsProtocol(): Protocol {
  const clips = createClipCache();
  return {
    prefix: '/elevenlabs',
    routes: [
      {
        method: 'POST',
        path: '/v1/text-to-speech/{voice_id}',
        operation: 'text_to_speech',
        handle: (exchange) => textToSpeech(exchange, clips),
      },
    ],
    keyOf: (exchange) => exchange.header('xi-api-key'),
    errorBody,
  };
}

function errorBody(error: WireError, requestId: string): unknown {
  if (error.status === 404 && error.code === undefined) return { detail: error.message };
  const [type, usualCode] = WORDS[error.status] ?? ['internal_error', 'internal_error'];
  const code = error.code ?? usualCode;
  return {
    detail: { type, code, message: error.message, status: code, request_id: requestId },
  };
}
