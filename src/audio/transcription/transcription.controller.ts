import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { sendCharged } from '../../platform/http-server/responses/charge-header.js';
import { StrictBody } from '../../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../../admission/admitted-call.js';
import { RecordingEndpoint } from '../../admission/call-endpoint.decorators.js';
import { type Upload, Uploaded } from '../../media/upload.js';
import { AudioDataResponse } from '../audio-response.decorator.js';
import { RecordingOperation } from '../recording.body.js';
import { TranscriptionBody } from './dto/transcription.body.js';
import { TranscriptionService } from './transcription.service.js';
import { TranscriptionView } from './transcription.view.js';

/** Speech to text. */
@Controller()
export class TranscriptionController {
  constructor(private readonly transcription: TranscriptionService) {}

  @RecordingEndpoint('transcription', TranscriptionBody)
  @AudioDataResponse(TranscriptionView)
  @RecordingOperation(TranscriptionBody, {
    summary: 'Speech to text',
    description: 'Billed per second of the recording, measured from the media itself.',
    example: { model: 'aud-transcribe-v2', timestamps: 'word' },
  })
  createTranscription(
    @Call() call: AdmittedCall<'transcription'>,
    @StrictBody() body: TranscriptionBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return sendCharged(response, this.transcription.transcribe(call, body, upload));
  }
}
