import { Controller, Res } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { AudioWriter } from '../../platform/http-server/responses/audio-response.js';
import { BodyExamples } from '../../common/validation/body-examples.decorator.js';
import { StrictBody } from '../../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../../admission/admitted-call.js';
import { AudioEndpoint } from '../../admission/call-endpoint.decorators.js';
import { AudioResponse } from '../audio-response.decorator.js';
import { FORMATS_WITHOUT_WAV } from '../audio-fields.js';
import { MusicCompositionBody } from './dto/music-composition.body.js';
import { MusicCompositionService } from './music-composition.service.js';

/** Music composition. */
@Controller()
export class MusicCompositionController {
  constructor(private readonly music: MusicCompositionService) {}

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
  createMusic(
    @Call() call: AdmittedCall<'composition'>,
    @StrictBody() body: MusicCompositionBody,
    @Res() response: Response,
  ): Promise<void> {
    return this.music.compose(call, body, new AudioWriter(response));
  }
}
