import { Bool, ModelId, Num, Text, Int } from '../../common/validation/fields.js';
import { DeferrableBody } from '../../tasks/deferred/deferrable.decorator.js';
import { AudioFormatField, FORMATS_WITHOUT_WAV } from '../audio-fields.js';

const optional = { optional: true } as const;

/** Body (API: POST /v1/audio/sound-effects). */
export class SoundEffectBody extends DeferrableBody {
  @ModelId({ example: 'aud-sound-effects-v2' })
  model!: string;

  @Text({ max: 1_000, description: 'What is to be heard', example: 'Rain on a tin roof' })
  prompt!: string;

  @Num({
    min: 0.5,
    max: 30,
    default: 5,
    description: 'Billed rounded up to whole seconds',
  })
  duration_seconds!: number;

  @Num({
    min: 0,
    max: 1,
    ...optional,
    description: 'How closely the sound keeps to the prompt',
  })
  prompt_influence?: number;

  @Bool({ ...optional, description: 'Whether the end leads back to the start without a seam' })
  loop?: boolean;

  @AudioFormatField(FORMATS_WITHOUT_WAV)
  response_format!: (typeof FORMATS_WITHOUT_WAV)[number];
}

/** Body (API: POST /v1/audio/music). */
export class MusicCompositionBody extends DeferrableBody {
  @ModelId({ example: 'aud-music-v2.5' })
  model!: string;

  @Text({
    max: 4_100,
    description: 'What the music is to be like',
    example: 'A calm piano piece for a rainy evening',
  })
  prompt!: string;

  @Text({
    max: 4_000,
    blank: 'allowed',
    ...optional,
    description: 'Words to sing; blank ones count as none',
  })
  lyrics?: string;

  @Int({
    min: 3,
    max: 300,
    ...optional,
    description:
      'Billed whatever the actual length; 30 if absent. Models that are sold by the song refuse it',
  })
  duration_seconds?: number;

  @Bool({
    ...optional,
    description: 'true guarantees music without singing, with or without lyrics',
  })
  instrumental?: boolean;

  @AudioFormatField(FORMATS_WITHOUT_WAV)
  response_format!: (typeof FORMATS_WITHOUT_WAV)[number];
}
