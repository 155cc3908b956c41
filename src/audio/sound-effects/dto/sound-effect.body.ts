import { Bool, ModelId, Num, Text } from '../../../common/validation/fields.js';
import { AudioFormatField, FORMATS_WITHOUT_WAV } from '../../audio-fields.js';

const optional = { optional: true } as const;

/** Body (API: POST /v1/audio/sound-effects). */
export class SoundEffectBody {
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
