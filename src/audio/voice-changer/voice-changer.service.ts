import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { priceOfSeconds } from '../../catalog/price-rule.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { MediaIntake } from '../../media/media-intake.js';
import type { Upload } from '../../media/upload.js';
import type { MediaFile } from '../../providers/ports/media-file.js';
import type { ProviderAudio } from '../../providers/ports/provider-audio.js';
import type { VoiceChangeCommand } from '../../providers/ports/voice-change.port.js';
import { voiceIdOf } from '../audio-fields.js';
import { PaidAudio, type Purchase } from '../paid-audio.js';
import type { VoiceChangerBody } from './dto/voice-changer.body.js';

/** Speech to speech (spec: POST /v1/audio/voice-changer). */
@Injectable()
export class VoiceChangerService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly audio: PaidAudio,
  ) {}

  /** Says the same in another voice, into the answer's body. Throws what `MediaIntake.use` and `PaidAudio.play` throw. */
  change(
    call: AdmittedCall<'voice-change'>,
    body: VoiceChangerBody,
    upload: Upload | undefined,
    response: Response,
  ): Promise<void> {
    const source = { upload, url: body.audio_url };
    return this.intake.use(source, call.row.limits, async ({ media, billedSeconds }) => {
      const command = commandOf(body, media);
      const purchase: Purchase<'voice-change', ProviderAudio> = {
        operation: 'voice-change',
        priceMicroUsd: priceOfSeconds(call.row.price, billedSeconds),
        attempt: (port, context) => port.changeVoice(command, context),
      };
      await this.audio.play(call, purchase, command.format, response);
    });
  }
}

function commandOf(body: VoiceChangerBody, media: MediaFile): VoiceChangeCommand {
  return {
    media,
    voiceId: voiceIdOf(body.voice),
    format: body.response_format,
    stability: body.stability,
    similarityBoost: body.similarity_boost,
    style: body.style,
    useSpeakerBoost: body.use_speaker_boost,
    removeBackgroundNoise: body.remove_background_noise,
    seed: body.seed,
  };
}
