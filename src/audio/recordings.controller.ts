import { Controller, Res } from '@nestjs/common';
import type { Response } from 'express';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { RecordingEndpoint } from './audio-endpoint.decorators.js';
import { type Upload, Uploaded } from '../media/upload.js';
import { AudioDataResponse, AudioResponse } from './audio-response.decorator.js';
import { RecordingOperation } from './recording.body.js';
import {
  TranscriptionBody,
  AlignmentBody,
  VoiceChangerBody,
  IsolationBody,
} from './dto/recordings.body.js';
import { TranscriptionService } from './transcription/transcription.service.js';
import { TranscriptionView } from './transcription/transcription.view.js';
import { BodyLimit } from '../platform/http-server/request-body/json-body.guard.js';
import { AlignmentService } from './alignment.service.js';
import { AlignmentView } from './alignment.view.js';
import { VoiceChangerService } from './voice-changer.service.js';
import { IsolationService } from './isolation.service.js';

/** Enough for 100,000 characters that are escaped in JSON (decision G-11). */
const JSON_LIMIT_BYTES = 4_194_304;

/** What is made of a recording: its text, the times of its words, another voice, its voice alone. */
@Controller()
export class RecordingsController {
  constructor(
    private readonly transcription: TranscriptionService,
    private readonly alignment: AlignmentService,
    private readonly voiceChanger: VoiceChangerService,
    private readonly isolation: IsolationService,
  ) {}

  @RecordingEndpoint('transcription', TranscriptionBody)
  @AudioDataResponse(TranscriptionView)
  @RecordingOperation(TranscriptionBody, {
    summary: 'Speech to text',
    description: 'Billed per second of the recording, measured from the media itself.',
    example: { model: 'aud-transcribe-v2', timestamps: 'word' },
  })
  createTranscription(
    @Call() call: AdmittedCall<'transcription'>,
    @StrictBody() body: TranscriptionBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return this.transcription.transcribe(call, body, upload, response);
  }

  @RecordingEndpoint('alignment', AlignmentBody)
  @BodyLimit(JSON_LIMIT_BYTES)
  @AudioDataResponse(AlignmentView)
  @RecordingOperation(AlignmentBody, {
    summary: 'Forced alignment',
    description: 'When each word of a text is said. Billed per second of the recording.',
    example: { model: 'aud-forced-alignment', text: 'Hello, who is there?' },
  })
  createAlignment(
    @Call() call: AdmittedCall<'alignment'>,
    @StrictBody() body: AlignmentBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return this.alignment.align(call, body, upload, response);
  }

  @RecordingEndpoint('voice-change', VoiceChangerBody)
  @AudioResponse('mp3', 'opus', 'pcm', 'wav')
  @RecordingOperation(VoiceChangerBody, {
    summary: 'Voice changer',
    description: 'The same words in another voice. Billed per second of the recording.',
    example: { model: 'aud-multilingual-sts-v2', voice: 'Adam' },
  })
  createVoiceChange(
    @Call() call: AdmittedCall<'voice-change'>,
    @StrictBody() body: VoiceChangerBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return this.voiceChanger.change(call, body, upload, response);
  }

  @RecordingEndpoint('isolation', IsolationBody, 'audio_too_short')
  @AudioResponse('mp3')
  @RecordingOperation(IsolationBody, {
    summary: 'Voice isolation',
    description:
      'The speech of a recording of at least 4.6 seconds without the rest. Billed per second of the recording.',
    example: { model: 'aud-voice-isolator' },
  })
  createIsolation(
    @Call() call: AdmittedCall<'isolation'>,
    @StrictBody() body: IsolationBody,
    @Uploaded() upload: Upload | undefined,
    @Res() response: Response,
  ): Promise<void> {
    return this.isolation.isolate(call, body, upload, response);
  }
}
