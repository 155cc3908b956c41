import { Injectable } from '@nestjs/common';
import type { Charged } from '../../platform/http-server/responses/gateway-headers.js';
import { quoteOfSeconds } from '../../catalog/price-rule.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import { MediaIntake } from '../../media/media-intake.js';
import type { Upload } from '../../media/upload.js';
import type { MediaFile } from '../../providers/ports/audio.port.js';
import type { TranscriptionCommand } from '../../providers/ports/transcript.port.js';
import { PaidCalls } from '../../billing/calls/paid-calls.js';
import type { TranscriptionBody } from '../dto/recordings.body.js';
import { type TranscriptionView, viewTranscript } from './transcription.view.js';
import { wantedTimings } from './wanted-timings.js';

/** Speech to text (API: POST /v1/audio/transcriptions). */
@Injectable()
export class TranscriptionService {
  constructor(
    private readonly intake: MediaIntake,
    private readonly calls: PaidCalls,
  ) {}

  /** Transcribes the recording. Throws what `MediaIntake.use` and `PaidCalls.start` and `PaidCall` throw. */
  transcribe(
    call: AdmittedCall<'transcription'>,
    body: TranscriptionBody,
    upload: Upload | undefined,
  ): Promise<Charged<TranscriptionView>> {
    const { accountId } = call.caller;
    const source = { upload, url: body.audio_url, accountId, response: call.response };
    return this.intake.use(source, call.row.limits, async (recording) => {
      const command = commandOf(body, recording.media);
      const quote = quoteOfSeconds(call.row.price, recording.billedSeconds);
      await using paid = await this.calls.start(call, quote);
      const { result } = await paid.attempt((port, context) => port.transcribe(command, context));
      const value = viewTranscript(result, body, recording.seconds);
      return { value, chargedMicroUsd: await paid.settle() };
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
    timestamps: wantedTimings(body).requested,
    subtitles: body.subtitles,
    temperature: body.temperature,
  };
}
