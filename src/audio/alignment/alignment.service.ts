import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { priceOfSeconds } from '../../catalog/price-rule.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { MediaIntake } from '../../media/media-intake.js';
import type { Upload } from '../../media/upload.js';
import { PaidAudio } from '../paid-audio.js';
import { type AlignmentView, viewAlignment } from './alignment.view.js';
import type { AlignmentBody } from './dto/alignment.body.js';

/** Forced alignment (spec: POST /v1/audio/alignment). */
@Injectable()
export class AlignmentService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly audio: PaidAudio,
  ) {}

  /** Finds when each word of the text is said. Throws what `MediaIntake.use` and `PaidAudio.ask` throw. */
  align(
    call: AdmittedCall<'alignment'>,
    body: AlignmentBody,
    upload: Upload | undefined,
    response: Response,
  ): Promise<AlignmentView> {
    const source = { upload, url: body.audio_url };
    return this.intake.use(source, call.row.limits, async ({ media, billedSeconds }) => {
      const result = await this.audio.ask(
        call,
        {
          operation: 'alignment',
          priceMicroUsd: priceOfSeconds(call.row.price, billedSeconds),
          attempt: (port, context) => port.align({ media, text: body.text }, context),
        },
        response,
      );
      return viewAlignment(result);
    });
  }
}
