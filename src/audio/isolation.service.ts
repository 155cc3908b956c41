import { Injectable } from '@nestjs/common';
import type { AudioWriter } from '../platform/http-server/responses/audio-response.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { MediaIntake } from '../media/media-intake.js';
import type { Upload } from '../media/upload.js';
import { PaidAudio } from './paid-audio.js';
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
    writer: AudioWriter,
  ): Promise<void> {
    const { accountId } = call.caller;
    const source = { upload, url: body.audio_url, accountId, response: call.response };
    return this.intake.use(source, call.row.limits, async ({ media, billedSeconds }) => {
      await this.audio.play(
        call,
        quoteOfSeconds(call.row.price, billedSeconds),
        (port, context) => port.isolate({ media }, context),
        'mp3',
        writer,
      );
    });
  }
}
