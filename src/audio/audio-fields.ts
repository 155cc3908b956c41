import { findVoice, VOICE_NAMES } from '../catalog/voices.js';
import { AUDIO_CONTENT_TYPES } from '../common/http/audio-writer.js';
import { Checked, OneOf } from '../common/validation/fields.js';

/** Largest `seed` (spec: speech, dialogue, voice changer). */
export const MAX_SEED = 4_294_967_295;

/** Formats of music and sound effects, which are not sold as WAV (spec: Output formats). */
export const FORMATS_WITHOUT_WAV = ['mp3', 'opus', 'pcm'] as const;

/** `response_format` of an endpoint that answers with audio; MP3 unless told otherwise. */
export function AudioFormatField(
  formats: readonly string[] = Object.keys(AUDIO_CONTENT_TYPES),
): PropertyDecorator {
  return OneOf(formats, { default: 'mp3' });
}

/** A premade voice by id or first name, in any case (decision G-37). */
export function VoiceField(): PropertyDecorator {
  return Checked(
    (value) => typeof value === 'string' && findVoice(value) !== undefined,
    `must be one of ${VOICE_NAMES.join(', ')}, or the id of one of them`,
    {
      description: 'First name of a voice, or its id, in any case; see GET /v1/voices',
      example: 'Adam',
      api: { type: String, enum: [...VOICE_NAMES] },
    },
  );
}

/** The id of a voice that has passed {@link VoiceField}. */
export function voiceIdOf(voice: string): string {
  return findVoice(voice)?.id ?? voice;
}
