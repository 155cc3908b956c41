import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AudioWriter } from '../../platform/http-server/responses/audio-response.js';
import { StrictBody } from '../../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../../admission/admitted-call.js';
import { RecordingEndpoint } from '../../admission/call-endpoint.decorators.js';
import { type Upload, Uploaded } from '../../media/upload.js';
import { AudioResponse } from '../audio-response.decorator.js';
import { RecordingOperation } from '../recording.body.js';
import { IsolationBody } from './dto/isolation.body.js';
import { IsolationService } from './isolation.service.js';

/** Voice isolation. */
@Controller()
export class IsolationController {
  constructor(private readonly isolation: IsolationService) {}

  @RecordingEndpoint('isolation', IsolationBody, 'audio_too_short')
  @AudioResponse('mp3')
  @RecordingOperation(IsolationBody, {
    summary: 'Voice isolation',
    description:
      'The speech of a recording of at least 4.6 seconds without the rest. Billed per second of the recording.',
    example: { model: 'aud-voice-isolator' },
  })
  createIsolation(
    @Call() call: AdmittedCall<'isolation'>,
    @StrictBody() body: IsolationBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return this.isolation.isolate(call, body, upload, new AudioWriter(response));
  }
}
