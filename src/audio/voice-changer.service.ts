import { Injectable } from '@nestjs/common';
import type { AudioWriter } from '../platform/http-server/responses/audio-response.js';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { MediaIntake } from '../media/media-intake.js';
import type { Upload } from '../media/upload.js';
import type { MediaFile, VoiceChangeCommand } from '../providers/ports/audio.port.js';
import { voiceIdOf } from './audio-fields.js';
import { PaidAudio } from './paid-audio.js';
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
    writer: AudioWriter,
  ): Promise<void> {
    const { accountId } = call.caller;
    const source = { upload, url: body.audio_url, accountId, response: call.response };
    return this.intake.use(source, call.row.limits, async ({ media, billedSeconds }) => {
      const command = commandOf(call.row, body, media);
      await this.audio.play(
        call,
        quoteOfSeconds(call.row.price, billedSeconds),
        (port, context) => port.changeVoice(command, context),
        command.format,
        writer,
      );
    });
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
