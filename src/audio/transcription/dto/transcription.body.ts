import { ExcludedBy } from '../../../common/validation/cross-field-rules.js';
import {
  DoneAnyway,
  Bool,
  LanguageCode,
  Num,
  Enum,
  Int,
} from '../../../common/validation/fields.js';
import { recordingBody } from '../../recording.body.js';

type Granularity = (typeof GRANULARITIES)[number];

const optional = { optional: true } as const;
const GRANULARITIES = ['word', 'segment'] as const;
const granularities = { list: { min: 0, max: 2 }, ...optional } as const;

/** Body (API: POST /v1/audio/transcriptions). */
export class TranscriptionBody extends recordingBody('aud-transcribe-v2') {
  @LanguageCode({ ...optional, description: 'Left out, the language is detected' })
  language?: string;

  @Bool({ ...optional, description: 'Fills `words[].speaker`' })
  diarize?: boolean;

  @Int({ min: 1, max: 32, ...optional, description: 'Most speakers to tell apart' })
  num_speakers?: number;

  @Bool({ ...optional, description: 'Tags sounds such as laughter' })
  tag_audio_events?: boolean;

  @Enum(['none', 'word', 'character'], {
    ...optional,
    description: '`word` and `character` both add `words`, which are timed per word',
  })
  timestamps?: 'none' | 'word' | 'character';

  @Bool({ ...optional, description: 'Adds `srt`' })
  subtitles?: boolean;

  @Num({ min: 0, max: 2, ...optional })
  temperature?: number;

  @Enum(['json', 'verbose_json'], {
    default: 'json',
    description:
      '`verbose_json` adds `task` and `duration`, and `words` and `segments` unless `timestamps` is `none`',
  })
  response_format!: 'json' | 'verbose_json';

  @ExcludedBy('timestamps')
  @Enum(GRANULARITIES, {
    ...granularities,
    description: '`word` adds `words`, `segment` adds `segments`; not with `timestamps`',
  })
  timestamp_granularities?: Granularity[];

  @ExcludedBy('timestamps')
  @ExcludedBy('timestamp_granularities')
  @Enum(GRANULARITIES, {
    ...granularities,
    description: '`timestamp_granularities` as the OpenAI API spells it in forms',
  })
  'timestamp_granularities[]'?: Granularity[];

  @DoneAnyway(false)
  stream?: false;
}
