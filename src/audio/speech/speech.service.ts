import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { priceOfText } from '../../catalog/price-rule.js';
import { findVoice } from '../../catalog/voices.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { sendAudio } from '../../common/http/audio-answer.js';
import { codePointCount } from '../../common/validation/text-rule.js';
import type { PaidCall } from '../../executions/paid-call.js';
import { PayOnSuccess } from '../../executions/pay-on-success.js';
import type { SpeechCommand } from '../../providers/ports/speech.port.js';
import { ProviderRouter } from '../../providers/routing/provider-router.js';
import type { SpeechBody } from './dto/speech.body.js';

/** Text to speech (spec: POST /v1/audio/speech). */
@Injectable()
export class SpeechService {
  constructor(
    private readonly payment: PayOnSuccess,
    private readonly router: ProviderRouter,
  ) {}

  /**
   * Speaks `input` into the answer's body; the answer ends once the charge is durable.
   * Throws 400 `input_too_long` over the model's limit, 402 `insufficient_funds`, and the provider's failures.
   */
  async speak(call: PaidCall<'speech'>, body: SpeechBody, response: Response): Promise<void> {
    const length = codePointCount(body.input);
    if (length > call.row.limits.maxInput) {
      const message = `input has ${length} characters; ${call.row.id} takes ${call.row.limits.maxInput}.`;
      throw new GatewayError('input_too_long', message, { param: 'input' });
    }
    const price = priceOfText(call.row.price, length);
    const command = commandOf(body);
    await this.payment.run(call, price, async (signal) => {
      const { provider, result } = await this.router.run(
        call.routes,
        'speech',
        (port, context) => port.speak(command, context),
        signal,
      );
      await sendAudio(response, result.body, body.response_format, price);
      return { value: undefined, provider, providerRequestId: result.providerRequestId };
    });
    response.end();
  }
}

function commandOf(body: SpeechBody): SpeechCommand {
  return {
    text: body.input,
    voiceId: findVoice(body.voice)?.id ?? body.voice,
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
