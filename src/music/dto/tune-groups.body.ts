import { ExcludedBy, RequiredWithout } from '../../common/validation/cross-field-rules.js';
import { Bool, Num, Enum, Text, Int } from '../../common/validation/fields.js';
import { Instruction, MAX_DESCRIPTION, MAX_LYRICS, Seconds, Seed } from './song-fields.js';

const MAX_BPM = 300;
const MAX_TUNE_SECONDS = 240;
const MAX_EXTENSION_SECONDS = 327;
const optional = { optional: true } as const;

/** Own fields of `tune-music`: a style, lyrics or both. */
export class Tune {
  @RequiredWithout('lyrics')
  @Text({ max: MAX_DESCRIPTION, description: 'Style; required where `lyrics` is not sent' })
  prompt?: string;

  @ExcludedBy('instrumental')
  @Text({ max: MAX_LYRICS, ...optional, description: 'Words to sing; not with `instrumental`' })
  lyrics?: string;

  @Int({ min: 1, max: MAX_TUNE_SECONDS, ...optional, description: 'Length, in seconds' })
  duration?: number;

  @Int({ min: 1, max: MAX_BPM, ...optional, description: 'Tempo, in beats per minute' })
  bpm?: number;

  @Bool({ ...optional, description: 'Nobody sings; not with `lyrics`' })
  instrumental?: boolean;
}

/** Own field of `tune-music-lyrics`. */
export class TunePrompt {
  @Text({
    max: MAX_DESCRIPTION,
    example: 'A farewell at a railway station',
    description: 'What the lyrics are to be about',
  })
  prompt!: string;
}

/** An instruction what to do with the clip. */
export class Instructed {
  @Instruction()
  instruction!: string;
}

/** The same seed gives the same result. */
export class Seeded {
  @Seed()
  seed?: number;
}

/** Own fields of `tune-music-extend`. */
export class TuneExtension {
  @Seconds('Second to continue from')
  continue_at!: number;

  @Int({ min: 1, max: MAX_EXTENSION_SECONDS, default: 60, description: 'Seconds to add' })
  duration!: number;
}

/** Own field of `tune-music-cover`. */
export class CoverStrength {
  @Num({ min: 0, max: 1, default: 0.5, description: 'How far the cover departs from the clip' })
  strength!: number;
}

/** Own field of `tune-music-download`. */
export class TuneFormat {
  @Enum(['mp3', 'wav'], { default: 'mp3', description: 'Format of the file' })
  format!: string;
}

/** Own field of `tune-music-video`. */
export class VideoTemplate {
  @Enum(['modern', 'player', 'simple'], { default: 'modern', description: 'Look of the video' })
  template!: string;
}
