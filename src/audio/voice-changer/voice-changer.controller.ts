import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AudioWriter } from '../../platform/http-server/responses/audio-response.js';
import { StrictBody } from '../../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../../admission/admitted-call.js';
import { RecordingEndpoint } from '../../admission/call-endpoint.decorators.js';
import { type Upload, Uploaded } from '../../media/upload.js';
import { AudioResponse } from '../audio-response.decorator.js';
import { RecordingOperation } from '../recording.body.js';
import { VoiceChangerBody } from './dto/voice-changer.body.js';
import { VoiceChangerService } from './voice-changer.service.js';

/** Speech to speech. */
@Controller()
export class VoiceChangerController {
  constructor(private readonly voiceChanger: VoiceChangerService) {}

  @RecordingEndpoint('voice-change', VoiceChangerBody)
  @AudioResponse('mp3', 'opus', 'pcm', 'wav')
  @RecordingOperation(VoiceChangerBody, {
    summary: 'Voice changer',
    description: 'The same words in another voice. Billed per second of the recording.',
    example: { model: 'aud-multilingual-sts-v2', voice: 'Adam' },
  })
  createVoiceChange(
    @Call() call: AdmittedCall<'voice-change'>,
    @StrictBody() body: VoiceChangerBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return this.voiceChanger.change(call, body, upload, new AudioWriter(response));
  }
}
