import type { AudioFormatName } from '../../platform/http-server/responses/audio-response.js';
import { JSON_BODY_BYTES } from '../../platform/http-server/request-body/json-body.js';
import {
  DoneAnyway,
  Bool,
  LanguageCode,
  ModelId,
  Num,
  Enum,
  Text,
  Int,
  Nested,
} from '../../common/validation/fields.js';
import { DeferrableBody } from '../../tasks/deferred/deferrable.decorator.js';
import { AudioFormatField, MAX_SEED, VoiceField } from '../audio-fields.js';

const MAX_CONTEXT = 5_000;
const optional = { optional: true } as const;

/** Body (API: POST /v1/audio/speech). */
export class SpeechBody extends DeferrableBody {
  @ModelId({ example: 'aud-v4' })
  model!: string;

  @Text({
    // The size of a whole body: the service rejects more than the model accepts, with a code of its own.
    max: JSON_BODY_BYTES,
    blank: 'refused',
    controls: 'speech',
    missingCode: 'invalid_input',
    description: 'Text to speak; every Unicode code point is billed',
    example: 'Hello, this is Shim speaking.',
  })
  input!: string;

  @VoiceField()
  voice!: string;

  @AudioFormatField()
  response_format!: AudioFormatName;

  @Num({
    min: 0.7,
    max: 1.2,
    ...optional,
    description: 'Pace of the speech: 1 is the pace of the voice',
  })
  speed?: number;

  @LanguageCode({ ...optional, description: 'Language of the text; detected where it is absent' })
  language?: string;

  @Num({ min: 0, max: 1, ...optional, description: 'Higher is more even, lower more lively' })
  stability?: number;

  @Num({ min: 0, max: 1, ...optional, description: 'How closely the speech keeps to the voice' })
  similarity_boost?: number;

  @Num({
    min: 0,
    max: 1,
    ...optional,
    description: 'How much the manner of the voice is exaggerated',
  })
  style?: number;

  @Bool({ ...optional, description: 'Whether the likeness to the voice is raised further' })
  use_speaker_boost?: boolean;

  @Int({
    min: 0,
    max: MAX_SEED,
    ...optional,
    description: 'The same seed and request give similar audio',
  })
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

  @Enum(['auto', 'on', 'off'], {
    ...optional,
    description: 'Whether numbers and abbreviations are written out before they are spoken',
  })
  apply_text_normalization?: 'auto' | 'on' | 'off';

  @DoneAnyway('audio')
  stream_format?: 'audio';

  @DoneAnyway(false)
  stream?: false;
}

/** One line of a dialogue. */
export class DialogueLine {
  @Text({
    // The size of a whole body: the service checks the total, which each model limits (decision G-35).
    max: JSON_BODY_BYTES,
    blank: 'refused',
    controls: 'speech',
    description: 'Text to speak; audio tags in square brackets are billed like the rest',
    example: '[laughs] Well, hello there.',
  })
  text!: string;

  @VoiceField()
  voice!: string;
}

/** Body (API: POST /v1/audio/dialogue). */
export class DialogueBody extends DeferrableBody {
  @ModelId({ example: 'aud-v4-dialogue' })
  model!: string;

  @Nested(() => DialogueLine, {
    list: { min: 1, max: 50 },
    description:
      'Lines in speaking order: at most 2,000 characters in all, at most 10 different voices',
    example: [
      { text: 'Hello, who is there?', voice: 'Adam' },
      { text: 'It is me.', voice: 'Alice' },
    ],
  })
  inputs!: DialogueLine[];

  @AudioFormatField()
  response_format!: AudioFormatName;

  @LanguageCode({ ...optional, description: 'Language of the lines; detected where it is absent' })
  language?: string;

  @Num({ min: 0, max: 1, ...optional, description: 'Higher is more even, lower more lively' })
  stability?: number;

  @Int({
    min: 0,
    max: MAX_SEED,
    ...optional,
    description: 'The same seed and request give similar audio',
  })
  seed?: number;
}
