import {
  ExcludedBy,
  OptionalWhile,
  RequiredWhen,
} from '../../common/validation/cross-field-rules.js';
import { Bool, Text } from '../../common/validation/fields.js';
import {
  AutoLyrics,
  CustomLyrics,
  InCustomMode,
  Instrumental,
  Lyrics,
  MAX_DESCRIPTION,
  MAX_LYRICS,
  NegativeTags,
  ShorterWhen,
  StyleText,
  TargetDuration,
  Title,
  Variety,
  VocalGender,
  Weight,
} from './song-fields.js';

const optional = { optional: true } as const;

/** Fields that the nine models with `custom` have in common (API: Song modes; decisions G-72, G-73). */
export class Creation {
  @Bool({
    default: false,
    description: 'true: lyrics and style are given; false: the song is written from a description',
  })
  custom!: boolean;

  @InCustomMode()
  @Title()
  title?: string;

  @InCustomMode()
  @NegativeTags()
  negative_tags?: string;

  @InCustomMode()
  @TargetDuration()
  duration?: number;

  @Variety()
  variety?: string;

  @InCustomMode()
  @Weight('How closely the style is followed')
  style_weight?: number;

  @InCustomMode()
  @Weight('How unusual the song may be')
  weirdness_constraint?: number;

  @InCustomMode()
  @Weight('How closely the source is followed')
  audio_weight?: number;
}

/** Description and style of a model that starts from a recording. */
export class SourceCreation {
  @RequiredWhen('custom', false)
  @ExcludedBy('custom')
  @Text({
    max: MAX_DESCRIPTION,
    description: 'What the song is to be; with `custom` = false only, and required there',
    example: 'A slow bossa nova with brushed drums',
  })
  gen_description?: string;

  @InCustomMode()
  @StyleText('Style tags')
  tags?: string;
}

/** Whether there is singing, and by whom. */
export class Singer {
  @Instrumental()
  instrumental!: boolean;

  @InCustomMode()
  @ExcludedBy('instrumental')
  @VocalGender()
  vocal_gender?: string;
}

/** The text of `song-music`, which describes the song outside custom mode. */
export class MusicPrompt {
  @OptionalWhile('custom', 'instrumental')
  @ShorterWhen('custom', false, MAX_DESCRIPTION)
  @Lyrics()
  prompt?: string;

  @InCustomMode()
  @StyleText('Style')
  style?: string;
}

/** Lyrics of the other models. */
export class SongLyrics {
  @CustomLyrics()
  prompt?: string;
}

/** Lyrics of a model that always sings. */
export class VocalLyrics {
  @RequiredWhen('custom', true)
  @InCustomMode()
  @Text({ max: MAX_LYRICS, description: 'Lyrics', example: '[Verse]\nThe rain is writing' })
  prompt?: string;

  @InCustomMode()
  @VocalGender()
  vocal_gender?: string;
}

/** Lyrics of a model whose voice is given already. */
export class SpareLyrics {
  @InCustomMode()
  @Lyrics(optional)
  prompt?: string;
}

/** Lyrics that are written from an idea. */
export class WrittenLyrics {
  @InCustomMode()
  @AutoLyrics()
  auto_lyrics?: boolean;
}
