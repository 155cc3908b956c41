import { findVoice } from '../../../catalog/voices.js';
import { AUDIO_CONTENT_TYPES, type ResponseFormat } from '../../../common/http/audio-answer.js';
import {
  Checked,
  Flag,
  LanguageCode,
  ModelId,
  Num,
  OneOf,
  Text,
  Whole,
} from '../../../common/validation/fields.js';
import { MAX_SEED } from '../../audio-fields.js';

/** The largest `input` of any model; each model's own limit is checked by the service. */
const MAX_INPUT = 1_000_000;
const MAX_CONTEXT = 5_000;
const optional = { optional: true } as const;

/** Body of POST /v1/audio/speech (spec: same heading). */
export class SpeechBody {
  @ModelId({ example: 'aud-v4' })
  model!: string;

  @Text({
    max: MAX_INPUT,
    blank: 'refused',
    controls: 'speech',
    missingCode: 'invalid_input',
    description: 'Text to speak; every Unicode code point is billed',
    example: 'Hello, this is Shim speaking.',
  })
  input!: string;

  @Checked(
    (value) => typeof value === 'string' && findVoice(value) !== undefined,
    'must be the id or first name of one of the 21 voices',
    {
      description: 'Voice id or first name, in any case',
      example: 'Adam',
      api: { type: String },
    },
  )
  voice!: string;

  @OneOf(Object.keys(AUDIO_CONTENT_TYPES), { default: 'mp3' })
  response_format!: ResponseFormat;

  @Num({ min: 0.7, max: 1.2, ...optional })
  speed?: number;

  @LanguageCode(optional)
  language?: string;

  @Num({ min: 0, max: 1, ...optional })
  stability?: number;

  @Num({ min: 0, max: 1, ...optional })
  similarity_boost?: number;

  @Num({ min: 0, max: 1, ...optional })
  style?: number;

  @Flag(optional)
  use_speaker_boost?: boolean;

  @Whole({ min: 0, max: MAX_SEED, ...optional })
  seed?: number;

  @Text({
    max: MAX_CONTEXT,
    blank: 'allowed',
    ...optional,
    description: 'Text before `input`; not billed',
  })
  previous_text?: string;

  @Text({
    max: MAX_CONTEXT,
    blank: 'allowed',
    ...optional,
    description: 'Text after `input`; not billed',
  })
  next_text?: string;

  @OneOf(['auto', 'on', 'off'], optional)
  apply_text_normalization?: 'auto' | 'on' | 'off';
}
