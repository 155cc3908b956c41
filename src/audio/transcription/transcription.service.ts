import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { priceOfSeconds } from '../../catalog/price-rule.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { MediaIntake } from '../../media/media-intake.js';
import type { Upload } from '../../media/upload.js';
import type { MediaFile } from '../../providers/ports/media-file.js';
import type { TranscriptionCommand } from '../../providers/ports/transcription.port.js';
import { PaidAudio } from '../paid-audio.js';
import type { TranscriptionBody } from './dto/transcription.body.js';
import { type TranscriptionView, viewTranscript } from './transcription.view.js';

/** Speech to text (spec: POST /v1/audio/transcriptions). */
@Injectable()
export class TranscriptionService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly audio: PaidAudio,
  ) {}

  /** Writes down what is said. Throws what `MediaIntake.use` and `PaidAudio.ask` throw. */
  transcribe(
    call: AdmittedCall<'transcription'>,
    body: TranscriptionBody,
    upload: Upload | undefined,
    response: Response,
  ): Promise<TranscriptionView> {
    const source = { upload, url: body.audio_url };
    return this.intake.use(source, call.row.limits, async (recording) => {
      const command = commandOf(body, recording.media);
      const result = await this.audio.ask(
        call,
        {
          operation: 'transcription',
          priceMicroUsd: priceOfSeconds(call.row.price, recording.billedSeconds),
          attempt: (port, context) => port.transcribe(command, context),
        },
        response,
      );
      return viewTranscript(result, body, recording.seconds);
    });
  }
}

function commandOf(body: TranscriptionBody, media: MediaFile): TranscriptionCommand {
  return {
    media,
    language: body.language,
    diarize: body.diarize,
    numSpeakers: body.num_speakers,
    tagAudioEvents: body.tag_audio_events,
    timestamps: body.timestamps,
    subtitles: body.subtitles,
    temperature: body.temperature,
  };
}
