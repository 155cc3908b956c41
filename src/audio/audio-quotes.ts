import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  QuotableCalls,
  type QuotedCall,
  type BodyQuote,
} from '../admission/quotes/quotable-calls.js';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import { microsOfSeconds } from '../common/time/billable-seconds.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import type { Dto } from '../common/validation/fields.js';
import { billedSecondsOf, checkInput, URL_FIELD } from '../media/media-intake.js';
import { UserSuppliedUrls } from '../platform/http-client/user-supplied-urls.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import { quoteOfDialogue } from './dialogue.service.js';
import {
  AlignmentBody,
  IsolationBody,
  TranscriptionBody,
  VoiceChangerBody,
} from './dto/recordings.body.js';
import { MusicCompositionBody, SoundEffectBody } from './dto/sounds.body.js';
import { DialogueBody, SpeechBody } from './dto/spoken-text.body.js';
import { quoteOfComposition } from './music-composition.service.js';
import { quoteOfSoundEffect } from './sound-effects.service.js';
import { quoteOfSpeech } from './speech.service.js';

type Recorded = 'transcription' | 'alignment' | 'voice-change' | 'isolation';

/** Quotes of the synchronous audio endpoints. */
@Injectable()
export class AudioQuotes implements OnModuleInit {
  constructor(
    private readonly calls: QuotableCalls,
    private readonly urls: UserSuppliedUrls,
  ) {}

  onModuleInit(): void {
    this.ofText('speech', SpeechBody, quoteOfSpeech);
    this.ofText('dialogue', DialogueBody, quoteOfDialogue);
    this.ofText('sound-effect', SoundEffectBody, quoteOfSoundEffect);
    this.ofText('composition', MusicCompositionBody, quoteOfComposition);
    this.ofRecording('transcription', TranscriptionBody);
    this.ofRecording('alignment', AlignmentBody);
    this.ofRecording('voice-change', VoiceChangerBody);
    this.ofRecording('isolation', IsolationBody);
  }

  private ofText<O extends Operation, Body extends object>(
    operation: O,
    dto: Dto<Body>,
    quoteOf: (row: ModelRow<O>, body: Body) => Quote,
  ): void {
    const validator = validatorOf(dto);
    this.calls.register(operation, ({ row }, body) => ({
      quote: quoteOf(row, validator.parse(body)),
      unchecked: [],
    }));
  }

  private ofRecording<Body extends { readonly audio_url?: string }>(
    operation: Recorded,
    dto: Dto<Body>,
  ): void {
    const validator = validatorOf(dto);
    this.calls.register(operation, (call, body) =>
      this.quoteOfRecording(call, validator.parse(body).audio_url),
    );
  }

  /** Without a URL, a recording whose length is told is the file of a form. */
  private quoteOfRecording(
    { row, durationSeconds }: QuotedCall<Recorded>,
    url: string | undefined,
  ): BodyQuote {
    const isFile = url === undefined && durationSeconds !== undefined;
    checkInput(isFile, url, URL_FIELD);
    const rejection = url === undefined ? undefined : this.urls.rejectionOf(url);
    if (rejection !== undefined) {
      const message = `${URL_FIELD} ${rejection}.`;
      throw new GatewayError('invalid_request', message, { param: URL_FIELD });
    }
    const unchecked = ['media'] as const;
    if (durationSeconds === undefined) return { quote: undefined, unchecked };
    const param = isFile ? 'file' : URL_FIELD;
    const seconds = billedSecondsOf(microsOfSeconds(durationSeconds), row.limits, param);
    return { quote: quoteOfSeconds(row.price, seconds), unchecked };
  }
}
