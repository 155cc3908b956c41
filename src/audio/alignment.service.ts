import { Injectable } from '@nestjs/common';
import type { Charged } from '../platform/http-server/responses/gateway-headers.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { MediaIntake } from '../media/media-intake.js';
import type { Upload } from '../media/upload.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import { type AlignmentView, viewAlignment } from './alignment.view.js';
import type { AlignmentBody } from './dto/recordings.body.js';

/** Forced alignment (API: POST /v1/audio/alignment). */
@Injectable()
export class AlignmentService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly calls: PaidCalls,
  ) {}

  /** Finds when each word of the text is spoken. Throws what `MediaIntake.use` and `PaidCalls.start` and `PaidCall` throw. */
  align(
    call: AdmittedCall<'alignment'>,
    body: AlignmentBody,
    upload: Upload | undefined,
  ): Promise<Charged<AlignmentView>> {
    const { accountId } = call.caller;
    const source = { upload, url: body.audio_url, accountId, response: call.response };
    return this.intake.use(source, call.row.limits, async ({ media, billedSeconds }) => {
      const quote = quoteOfSeconds(call.row.price, billedSeconds);
      await using paid = await this.calls.start(call, quote);
      const { result } = await paid.attempt((port, context) =>
        port.align({ media, text: body.text }, context),
      );
      const value = viewAlignment(result);
      return { value, chargedMicroUsd: await paid.settle() };
    });
  }
}
