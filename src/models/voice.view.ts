import { ApiProperty } from '@nestjs/swagger';
import type { PremadeVoice } from '../catalog/voices.js';

/** A voice: a premade one, or one that only some models have. */
export class VoiceView {
  @ApiProperty({ example: 'pNInz6obpgDQGcFmaJgB', description: 'Taken as `voice`, like the name' })
  id!: string;

  @ApiProperty({ example: 'Adam', description: 'Name of the voice, which `voice` takes too' })
  name!: string;

  @ApiProperty({
    type: String,
    enum: ['Male', 'Female', 'Neutral', null],
    nullable: true,
    description: 'What it sounds like; null for a voice of one model, where it is not known',
  })
  gender!: PremadeVoice['gender'] | null;

  @ApiProperty({
    type: String,
    enum: ['American', 'British', 'Australian', null],
    nullable: true,
    description: 'The accent of its English; null for a voice of one model',
  })
  accent!: PremadeVoice['accent'] | null;
}

/** The voices. */
export class VoiceListView {
  @ApiProperty({ enum: ['list'], description: 'Says what kind of object this is' })
  object!: 'list';

  @ApiProperty({ type: [VoiceView], description: 'The voices' })
  data!: readonly VoiceView[];
}
