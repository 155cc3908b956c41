import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { MediaIntake } from '../media/media-intake.js';
import type { Upload } from '../media/upload.js';
import type { MediaFile, VoiceChangeCommand } from '../providers/ports/audio.port.js';
import { voiceIdOf } from './audio-fields.js';
import type { Ordered } from '../tasks/deferred/call-order.js';
import { PaidAudio } from './paid-audio.js';
import { recordingSourceOf } from './recording.body.js';
import type { VoiceChangerBody } from './dto/recordings.body.js';

/** Speech to speech (API: POST /v1/audio/voice-changer). */
@Injectable()
export class VoiceChangerService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly audio: PaidAudio,
  ) {}

  /**
   * Speaks the words of the recording in another voice, into the body of the response. Throws what `MediaIntake.use`
   * and `PaidAudio.play` throw.
   */
  change(
    call: AdmittedCall<'voice-change'>,
    body: VoiceChangerBody,
    upload: Upload | undefined,
    response: Response,
  ): Promise<void> {
    const { row } = call;
    const source = recordingSourceOf(call, body, upload);
    const ordered: Ordered<VoiceChangeCommand> = (work) =>
      this.intake.use(source, row.limits, ({ media, billedSeconds }) =>
        work({
          quote: quoteOfSeconds(row.price, billedSeconds),
          command: commandOf(row, body, media),
        }),
      );
    return this.audio.play(call, body, ordered, response);
  }
}

function commandOf(
  row: ModelRow<'voice-change'>,
  body: VoiceChangerBody,
  media: MediaFile,
): VoiceChangeCommand {
  return {
    media,
    voiceId: voiceIdOf(row, body.voice),
    format: body.response_format,
    stability: body.stability,
    similarityBoost: body.similarity_boost,
    style: body.style,
    useSpeakerBoost: body.use_speaker_boost,
    removeBackgroundNoise: body.remove_background_noise,
    seed: body.seed,
  };
}
