import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { MediaIntake } from '../media/media-intake.js';
import type { Upload } from '../media/upload.js';
import type { AlignmentCommand } from '../providers/ports/transcript.port.js';
import type { Ordered } from '../tasks/deferred/call-order.js';
import { PaidAudio } from './paid-audio.js';
import { recordingSourceOf } from './recording.body.js';
import type { AlignmentBody } from './dto/recordings.body.js';

/** Forced alignment (API: POST /v1/audio/alignment). */
@Injectable()
export class AlignmentService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly audio: PaidAudio,
  ) {}

  /** Finds when each word of the text is spoken. Throws what `MediaIntake.use` and `PaidAudio.read` throw. */
  align(
    call: AdmittedCall<'alignment'>,
    body: AlignmentBody,
    upload: Upload | undefined,
    response: Response,
  ): Promise<void> {
    const { row } = call;
    const source = recordingSourceOf(call, body, upload);
    const ordered: Ordered<AlignmentCommand> = (work) =>
      this.intake.use(source, row.limits, ({ media, billedSeconds }) =>
        work({
          quote: quoteOfSeconds(row.price, billedSeconds),
          command: { media, text: body.text },
        }),
      );
    return this.audio.read(call, body, ordered, response);
  }
}
