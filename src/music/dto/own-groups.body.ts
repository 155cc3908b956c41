import { ArrayUnique, NotEquals } from 'class-validator';
import { ExcludedBy, RequiredWith } from '../../common/validation/cross-field-rules.js';
import { Bool, Num, Enum, Text, Int } from '../../common/validation/fields.js';
import {
  AudioUrls,
  AutoLyrics,
  EndsAfter,
  Instrumental,
  Lyrics,
  MAX_DESCRIPTION,
  MAX_LYRICS,
  MAX_TITLE,
  Seconds,
  StyleText,
  TargetDuration,
  Variety,
  VocalGender,
  Weight,
} from './song-fields.js';
import { StemType } from './stem-types.js';

const MAX_ABOUT = 500;
const MAX_SOUND = 500;
const MAX_BPM = 300;
const NOTES = ['C', 'C#', 'D', 'D#', 'E', 'F', 'F#', 'G', 'G#', 'A', 'A#', 'B'];
const optional = { optional: true } as const;

/** Own fields of `song-lyrics`. */
export class LyricsFields {
  @Text({
    max: MAX_DESCRIPTION,
    example: 'A farewell at a railway station',
    description: 'What the lyrics are to be about',
  })
  prompt!: string;

  @Enum(['classic', 'remi'], { default: 'classic', description: 'Which writer of lyrics is asked' })
  lyrics_model!: string;
}

/** Own fields of `song-inspo`, which has no `custom`: all fields are optional. */
export class Inspiration {
  @AudioUrls(1, 4, 'Public http or https URLs of the clips to be inspired by')
  audio_urls!: string[];

  @Lyrics(optional)
  prompt?: string;

  @Instrumental()
  instrumental!: boolean;

  @ExcludedBy('instrumental')
  @VocalGender()
  vocal_gender?: string;

  @Weight('How closely the style is followed')
  style_weight?: number;

  @Weight('How unusual the song may be')
  weirdness_constraint?: number;

  @Weight('How closely the clips are followed')
  audio_weight?: number;

  @AutoLyrics()
  auto_lyrics?: boolean;

  @TargetDuration()
  duration?: number;

  @Variety()
  variety?: string;
}

/** Own fields of `song-sounds`. */
export class Sound {
  @Text({ max: MAX_SOUND, description: 'What is to be heard', example: 'A heavy door slams shut' })
  prompt!: string;

  @Enum(['one-shot', 'loop'], {
    default: 'one-shot',
    description: 'Whether the sound ends, or leads back to its start without a seam',
  })
  type!: string;

  @Int({ min: 1, max: MAX_BPM, ...optional, description: 'Tempo, in beats per minute' })
  bpm?: number;

  @Enum([...NOTES, ...NOTES.map((note) => `${note}m`)], {
    ...optional,
    description: 'Musical key, such as `F#m`',
  })
  key?: string;
}

/** Own field of `song-style-boost`. */
export class StyleTags {
  @StyleText('Style tags to be expanded', {})
  tags!: string;
}

/** Own fields of `song-custom-model`. */
export class CustomModel {
  @Text({
    max: MAX_TITLE,
    example: 'Basement tapes',
    description: 'A name of your own for the model',
  })
  name!: string;

  @ArrayUnique({ message: '$property must name each recording once' })
  @AudioUrls(6, 24, 'Public http or https URLs of the reference tracks, each another one')
  audio_urls!: string[];
}

/** Own fields of `song-remaster`. */
export class Remaster {
  @Enum(['subtle', 'normal', 'high'], {
    default: 'normal',
    description: 'How far the remaster departs from the track',
  })
  variation_category!: string;

  @Enum(['natural', 'boost', 'clarity'], {
    ...optional,
    description: 'What the remaster is to bring out',
  })
  style_profile?: string;
}

/** Own fields of `song-replace-section`. */
export class Replacement {
  @Seconds('Where the range begins, in seconds')
  start_s!: number;

  @EndsAfter('start_s', { min: 6, max: 60 })
  @Seconds('Where the range ends, in seconds: 6 to 60 seconds after it began')
  end_s!: number;

  @Text({ max: MAX_LYRICS, ...optional, description: 'New words for the range' })
  infill_lyrics?: string;

  @Text({ max: MAX_LYRICS, ...optional, description: 'The words around the range' })
  prompt?: string;
}

/** Own field of a fade. */
export class Fade {
  @Seconds('How long the fade takes, in seconds', { from: 'above-zero' })
  fade_time_s!: number;
}

/** Own fields of `song-speed`. */
export class Speed {
  @NotEquals(1, { message: '$property must not be 1' })
  @Num({ min: 0.25, max: 4, description: 'Factor: 2 is twice as fast', example: 1.25 })
  speed_multiplier!: number;

  @Bool({ default: true, description: 'The pitch stays as it is' })
  keep_pitch!: boolean;
}

/** Own field of `song-stems`. */
export class Stem {
  @StemType({ default: 'lead_vocal', description: 'What is to be taken out' })
  stem_type!: string;
}

/** Own fields of `song-add-stem`. */
export class NewStem {
  @StemType({ description: 'What is to be added', example: 'cello' })
  stem_type!: string;

  @Text({ max: MAX_LYRICS, ...optional, description: 'Lyrics, where the stem is a voice' })
  prompt?: string;
}

/** Own fields of `song-voice`, besides the recording. */
export class Voice {
  @Text({
    max: MAX_TITLE,
    ...optional,
    example: 'Narrator',
    description: 'A name of your own for the voice',
  })
  name?: string;

  @Text({ max: MAX_ABOUT, ...optional, description: 'What the voice is like' })
  description?: string;
}

/** Own fields of `song-persona`. */
export class Persona {
  @Text({
    max: MAX_TITLE,
    example: 'The night singer',
    description: 'A name of your own for the singer',
  })
  name!: string;

  @Text({ max: MAX_ABOUT, ...optional, description: 'What the singer is like' })
  description?: string;

  @StyleText('How the singer sings')
  style?: string;

  @RequiredWith('vocal_end_s')
  @Seconds('Where the singing begins, in seconds; with `vocal_end_s` or not at all')
  vocal_start_s?: number;

  @RequiredWith('vocal_start_s')
  @EndsAfter('vocal_start_s')
  @Seconds('Where the singing ends, in seconds')
  vocal_end_s?: number;
}

/** Own field of `song-download`. */
export class Formats {
  @ArrayUnique({ message: '$property must name each format once' })
  @Enum(['mp3', 'm4a', 'wav'], {
    list: { min: 1, max: 3 },
    default: ['mp3'],
    description: 'One file each; the price is the same for any number',
  })
  formats!: string[];
}
