import { Controller, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { AudioEndpoint } from './audio-endpoint.decorators.js';
import { AudioResponse } from './audio-response.decorator.js';
import { FORMATS_WITHOUT_WAV } from './audio-fields.js';
import { SoundEffectBody, MusicCompositionBody } from './dto/sounds.body.js';
import { SoundEffectsService } from './sound-effects.service.js';
import { MusicCompositionService } from './music-composition.service.js';

/** Sounds and music of a length. */
@Controller()
export class SoundsController {
  constructor(
    private readonly effects: SoundEffectsService,
    private readonly music: MusicCompositionService,
  ) {}

  @AudioEndpoint('sound-effect')
  @AudioResponse(...FORMATS_WITHOUT_WAV)
  @BodyExamples(SoundEffectBody, {
    'sound effect': {
      model: 'aud-sound-effects-v2',
      prompt: 'Rain on a tin roof',
      duration_seconds: 5,
    },
  })
  @ApiOperation({
    summary: 'Sound effect',
    description: 'Billed per second asked for, rounded up to whole seconds.',
  })
  createSoundEffect(
    @Call() call: AdmittedCall<'sound-effect'>,
    @StrictBody() body: SoundEffectBody,
    @Res() response: Response,
  ): Promise<void> {
    return this.effects.make(call, body, response);
  }

  @AudioEndpoint('composition')
  @AudioResponse(...FORMATS_WITHOUT_WAV)
  @BodyExamples(MusicCompositionBody, {
    music: {
      model: 'aud-music-v2.5',
      prompt: 'A calm piano piece for a rainy evening',
      duration_seconds: 10,
    },
  })
  @ApiOperation({
    summary: 'Music composition',
    description:
      'The answer begins once the track is finished: allow several minutes. Billed per second asked for.',
  })
  createMusicComposition(
    @Call() call: AdmittedCall<'composition'>,
    @StrictBody() body: MusicCompositionBody,
    @Res() response: Response,
  ): Promise<void> {
    return this.music.compose(call, body, response);
  }
}
