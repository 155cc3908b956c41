import { ExcludedBy } from '../../common/validation/cross-field-rules.js';
import {
  DoneAnyway,
  Bool,
  LanguageCode,
  Num,
  Enum,
  Int,
  Text,
} from '../../common/validation/fields.js';
import { recordingBody } from '../recording.body.js';
import type { AudioFormatName } from '../../platform/http-server/responses/audio-response.js';
import { AudioFormatField, MAX_SEED, VoiceField } from '../audio-fields.js';

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

  @Num({
    min: 0,
    max: 2,
    ...optional,
    description: '0 keeps to the likeliest words, higher values vary more',
  })
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

/** Body (API: POST /v1/audio/alignment). */
export class AlignmentBody extends recordingBody('aud-forced-alignment') {
  @Text({
    max: 100_000,
    description: 'What is said in the recording; not billed',
    example: 'Hello, who is there?',
  })
  text!: string;
}

/** Body (API: POST /v1/audio/voice-changer). */
export class VoiceChangerBody extends recordingBody('aud-multilingual-sts-v2') {
  @VoiceField()
  voice!: string;

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

  @Bool({ ...optional, description: 'Whether noise is taken out of the recording first' })
  remove_background_noise?: boolean;

  @Int({
    min: 0,
    max: MAX_SEED,
    ...optional,
    description: 'The same seed and request give similar audio',
  })
  seed?: number;

  @AudioFormatField()
  response_format!: AudioFormatName;
}

/** Body (API: POST /v1/audio/isolation). */
export class IsolationBody extends recordingBody('aud-voice-isolator') {}
