import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { BodyLimit } from '../../platform/http-server/request-body/json-body.guard.js';
import { sendCharged } from '../../platform/http-server/responses/charge-header.js';
import { StrictBody } from '../../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../../admission/admitted-call.js';
import { RecordingEndpoint } from '../../admission/call-endpoint.decorators.js';
import { type Upload, Uploaded } from '../../media/upload.js';
import { AudioDataResponse } from '../audio-response.decorator.js';
import { AlignmentService } from './alignment.service.js';
import { AlignmentView } from './alignment.view.js';
import { RecordingOperation } from '../recording.body.js';
import { AlignmentBody } from './dto/alignment.body.js';

/** Enough for 100,000 characters that are escaped in JSON (decision G-11). */
const JSON_LIMIT_BYTES = 4_194_304;

/** Forced alignment. */
@Controller()
export class AlignmentController {
  constructor(private readonly alignment: AlignmentService) {}

  @RecordingEndpoint('alignment', AlignmentBody)
  @BodyLimit(JSON_LIMIT_BYTES)
  @AudioDataResponse(AlignmentView)
  @RecordingOperation(AlignmentBody, {
    summary: 'Forced alignment',
    description: 'When each word of a text is said. Billed per second of the recording.',
    example: { model: 'aud-forced-alignment', text: 'Hello, who is there?' },
  })
  createAlignment(
    @Call() call: AdmittedCall<'alignment'>,
    @StrictBody() body: AlignmentBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return sendCharged(response, this.alignment.align(call, body, upload));
  }
}
