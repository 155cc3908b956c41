import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { quoteOfSeconds } from '../../catalog/price-rule.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { MediaIntake } from '../../media/media-intake.js';
import type { Upload } from '../../media/upload.js';
import type { MediaFile } from '../../providers/ports/audio.port.js';
import type { TranscriptionCommand } from '../../providers/ports/transcript.port.js';
import type { Ordered } from '../../tasks/deferred/call-order.js';
import type { TranscriptionBody } from '../dto/recordings.body.js';
import type { Transcribed } from '../audio-work.js';
import { PaidAudio } from '../paid-audio.js';
import { recordingSourceOf } from '../recording.body.js';
import { wantedTimings } from './wanted-timings.js';

/** Speech to text (API: POST /v1/audio/transcriptions). */
@Injectable()
export class TranscriptionService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly audio: PaidAudio,
  ) {}

  /** Transcribes the recording. Throws what `MediaIntake.use` and `PaidAudio.read` throw. */
  transcribe(
    call: AdmittedCall<'transcription'>,
    body: TranscriptionBody,
    upload: Upload | undefined,
    response: Response,
  ): Promise<void> {
    const { row } = call;
    const source = recordingSourceOf(call, body, upload);
    const ordered: Ordered<TranscriptionCommand> = (work) =>
      this.intake.use(source, row.limits, ({ media, billedSeconds, seconds }) =>
        work({
          quote: quoteOfSeconds(row.price, billedSeconds),
          command: commandOf(body, media),
          shown: { body, durationSeconds: seconds } satisfies Transcribed,
        }),
      );
    return this.audio.read(call, body, ordered, response);
  }
}

function commandOf(body: TranscriptionBody, media: MediaFile): TranscriptionCommand {
  return {
    media,
    language: body.language,
    diarize: body.diarize,
    numSpeakers: body.num_speakers,
    tagAudioEvents: body.tag_audio_events,
    timestamps: wantedTimings(body).requested,
    subtitles: body.subtitles,
    temperature: body.temperature,
  };
}
