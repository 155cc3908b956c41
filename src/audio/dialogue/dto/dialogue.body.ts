import type { ResponseFormat } from '../../../platform/http-server/responses/audio-response.js';
import { JSON_BODY_BYTES } from '../../../platform/http-server/request-body/json-body.js';
import {
  LanguageCode,
  ModelId,
  Nested,
  Num,
  Text,
  Int,
} from '../../../common/validation/fields.js';
import { AudioFormatField, MAX_SEED, VoiceField } from '../../audio-fields.js';

const optional = { optional: true } as const;

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
export class DialogueBody {
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
  response_format!: ResponseFormat;

  @LanguageCode(optional)
  language?: string;

  @Num({ min: 0, max: 1, ...optional })
  stability?: number;

  @Int({ min: 0, max: MAX_SEED, ...optional })
  seed?: number;
}
