import type { SandboxExchange } from '../http/sandbox-exchange.js';
import {
  modelList,
  type SandboxProtocol,
  type SandboxRoute,
  type WireError,
} from '../http/protocol.js';
import { createClipCache, type Studio, SpokenTexts } from './audio-answer.js';
import { type DubbingRooms, dubbingRoutes } from './dubbing.js';
import { forcedAlignment, speechToText } from './speech-to-text.js';
import { music, soundGeneration } from './music.js';
import { textToDialogue, textToSpeech } from './text-to-speech.js';
import { audioIsolation, speechToSpeech } from './voice-conversion.js';

/** Type and code for an error status, where the fault names none. */
const WORDS: Readonly<Record<number, readonly [type: string, code: string]>> = {
  400: ['invalid_request', 'invalid_request'],
  401: ['authentication_error', 'invalid_api_key'],
  402: ['payment_required', 'insufficient_credits'],
  403: ['authorization_error', 'missing_permissions'],
  404: ['not_found', 'not_found'],
  422: ['validation_error', 'invalid_parameters'],
  429: ['rate_limit_error', 'rate_limit_exceeded'],
};

/**
 * ElevenLabs: the key is in `xi-api-key`, requests are JSON or multipart, answers are audio or JSON, errors are
 * `{detail}`.
 */
export function elevenLabsProtocol(rooms: DubbingRooms): SandboxProtocol {
  const studio: Studio = { clips: createClipCache(), spoken: new SpokenTexts() };
  const post = (path: string, operation: string, handle: Handler): SandboxRoute => ({
    method: 'POST',
    path: `/v1/${path}`,
    operation,
    handle: (exchange) => handle(exchange, studio),
  });
  return {
    prefix: '/elevenlabs',
    routes: [
      modelList('/v1/models', []),
      post('text-to-speech/{voice_id}', 'text_to_speech', textToSpeech),
      post('text-to-dialogue', 'text_to_dialogue', textToDialogue),
      post('speech-to-text', 'speech_to_text', speechToText),
      post('forced-alignment', 'forced_alignment', forcedAlignment),
      post('speech-to-speech/{voice_id}', 'speech_to_speech', speechToSpeech),
      post('audio-isolation', 'audio_isolation', audioIsolation),
      post('sound-generation', 'sound_generation', soundGeneration),
      post('music', 'music', music),
      ...dubbingRoutes(studio, rooms),
    ],
    keyOf: (exchange) => exchange.header('xi-api-key'),
    requestIdHeader: 'request-id',
    errorBody,
  };
}

type Handler = (exchange: SandboxExchange, studio: Studio) => Promise<void>;

function errorBody(error: WireError, requestId: string): unknown {
  if (error.status === 404 && error.code === undefined) return { detail: error.message };
  const [type, usualCode] = WORDS[error.status] ?? ['internal_error', 'internal_error'];
  const code = error.code ?? usualCode;
  return {
    detail: { type, code, message: error.message, status: code, request_id: requestId },
  };
}
