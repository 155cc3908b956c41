import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfText } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import { codePointCount } from '../common/validation/text-rule.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { SpeechCommand } from '../providers/ports/audio.port.js';
import { voiceIdOf } from './audio-fields.js';
import { PaidAudio } from './paid-audio.js';
import type { SpeechBody } from './dto/spoken-text.body.js';

/** Text to speech (API: POST /v1/audio/speech). */
@Injectable()
export class SpeechService {
  constructor(private readonly audio: PaidAudio) {}

  /**
   * Speaks `input` into the body of the response, which ends once the charge is durable. Throws 400 `input_too_long`
   * above the model's limit, 402 `insufficient_funds`, and the provider's failures.
   */
  speak(call: AdmittedCall<'speech'>, body: SpeechBody, response: Response): Promise<void> {
    const { row } = call;
    return this.audio.play(
      call,
      body,
      async (work) => work({ quote: quoteOfSpeech(row, body), command: commandOf(row, body) }),
      response,
    );
  }
}

/** What the text costs. Throws 400 `input_too_long` above the model's limit, and for a voice that the model does not have. */
export function quoteOfSpeech(row: ModelRow<'speech'>, { input, voice }: SpeechBody): Quote {
  const { id, price, limits } = row;
  const { maxInput } = limits;
  const length = codePointCount(input);
  if (length > maxInput) {
    const message = `input has ${length} characters; ${id} takes ${maxInput}.`;
    throw new GatewayError('input_too_long', message, { param: 'input' });
  }
  voiceIdOf(row, voice);
  return quoteOfText(price, length);
}

function commandOf(row: ModelRow<'speech'>, body: SpeechBody): SpeechCommand {
  return {
    text: body.input,
    voiceId: voiceIdOf(row, body.voice),
    format: body.response_format,
    language: body.language,
    speed: body.speed,
    stability: body.stability,
    similarityBoost: body.similarity_boost,
    style: body.style,
    useSpeakerBoost: body.use_speaker_boost,
    seed: body.seed,
    previousText: body.previous_text,
    nextText: body.next_text,
    applyTextNormalization: body.apply_text_normalization,
  };
}
