import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { MediaIntake } from '../media/media-intake.js';
import type { Upload } from '../media/upload.js';
import type { IsolationCommand } from '../providers/ports/audio.port.js';
import type { Ordered } from '../tasks/deferred/call-order.js';
import { PaidAudio } from './paid-audio.js';
import { recordingSourceOf } from './recording.body.js';
import type { IsolationBody } from './dto/recordings.body.js';

/** Voice isolation (API: POST /v1/audio/isolation). */
@Injectable()
export class IsolationService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly audio: PaidAudio,
  ) {}

  /**
   * Removes everything but speech; the MP3 is the body of the response. Throws what `MediaIntake.use` throws, including
   * `audio_too_short` before there is a hold, and what `PaidAudio.play` throws.
   */
  isolate(
    call: AdmittedCall<'isolation'>,
    body: IsolationBody,
    upload: Upload | undefined,
    response: Response,
  ): Promise<void> {
    const { row } = call;
    const source = recordingSourceOf(call, body, upload);
    const ordered: Ordered<IsolationCommand> = (work) =>
      this.intake.use(source, row.limits, ({ media, billedSeconds }) =>
        work({ quote: quoteOfSeconds(row.price, billedSeconds), command: { media } }),
      );
    return this.audio.play(call, body, ordered, response);
  }
}
