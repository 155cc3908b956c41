import { Injectable } from '@nestjs/common';
import type { AudioWriter } from '../platform/http-server/responses/audio-response.js';
import { quoteOfText } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
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
  async speak(call: AdmittedCall<'speech'>, body: SpeechBody, writer: AudioWriter): Promise<void> {
    const length = codePointCount(body.input);
    if (length > call.row.limits.maxInput) {
      const message = `input has ${length} characters; ${call.row.id} takes ${call.row.limits.maxInput}.`;
      throw new GatewayError('input_too_long', message, { param: 'input' });
    }
    const command = commandOf(body);
    await this.audio.play(
      call,
      quoteOfText(call.row.price, length),
      (port, context) => port.speak(command, context),
      body.response_format,
      writer,
    );
  }
}

function commandOf(body: SpeechBody): SpeechCommand {
  return {
    text: body.input,
    voiceId: voiceIdOf(body.voice),
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
