import { findVoice, isKnownVoice, type OwnVoices, VOICE_NAMES } from '../catalog/voices.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { AUDIO_CONTENT_TYPES } from '../platform/http-server/responses/audio-response.js';
import { Custom, Enum } from '../common/validation/fields.js';

/** Largest `seed` (API: POST /v1/audio/speech). */
export const MAX_SEED = 4_294_967_295;

/** The form of a voice's name or id in any case, for the API document. */
const VOICE_TEXT = '^([A-Za-z]{4,7}|[A-Za-z0-9]{20})$';

/** Formats of music and sound effects, which are not available as WAV (API: Output formats). */
export const FORMATS_WITHOUT_WAV = ['mp3', 'opus', 'pcm'] as const;

/** `response_format` of an endpoint whose response is audio; MP3 by default. */
export function AudioFormatField(
  formats: readonly string[] = Object.keys(AUDIO_CONTENT_TYPES),
): PropertyDecorator {
  return Enum(formats, { default: 'mp3', description: 'Format of the audio' });
}

/**
 * A premade voice by id or first name, in any case (decision G-37), or a voice that some model has for itself. Whether it is
 * a voice of the model is decided by {@link voiceIdOf}.
 */
export function VoiceField(): PropertyDecorator {
  return Custom(
    (value) => typeof value === 'string' && isKnownVoice(value),
    `must be one of ${VOICE_NAMES.join(', ')}, or the id of one of them`,
    {
      description: 'First name of a voice, or its id, both in any case; see GET /v1/voices',
      example: 'Adam',
      // Generated clients accept any text and still list the names.
      api: {
        anyOf: [
          { type: 'string', enum: [...VOICE_NAMES] },
          { type: 'string', pattern: VOICE_TEXT },
        ],
      },
    },
  );
}

/**
 * What the providers of a model call a voice that {@link VoiceField} has accepted: one of the model's own voices where it has
 * any, else a premade one. Throws `invalid_request` with `param` for a voice that the model does not have.
 */
export function voiceIdOf(
  { voices }: { readonly voices?: OwnVoices },
  voice: string,
  param = 'voice',
): string {
  const names = voices ? Object.keys(voices) : VOICE_NAMES;
  const wanted = voice.toLowerCase();
  const own = voices && names.find((name) => name.toLowerCase() === wanted);
  const id = voices ? voices[own ?? ''] : findVoice(voice)?.id;
  if (id !== undefined) return id;
  const message = `${param} must be one of ${names.join(', ')} for this model.`;
  throw new GatewayError('invalid_request', message, { param });
}
