import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { Quote } from '../common/money/charge-basis.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { SoundEffectCommand } from '../providers/ports/audio.port.js';
import { PaidAudio } from './paid-audio.js';
import type { SoundEffectBody } from './dto/sounds.body.js';

/** Sound effects (API: POST /v1/audio/sound-effects). */
@Injectable()
export class SoundEffectsService {
  constructor(private readonly audio: PaidAudio) {}

  /**
   * Writes the sound into the body of the response. The requested seconds are billed, rounded up without any allowance,
   * whatever the duration of the sound (decision G-21). Throws what `PaidAudio.play` throws.
   */
  make(
    call: AdmittedCall<'sound-effect'>,
    body: SoundEffectBody,
    response: Response,
  ): Promise<void> {
    const order = { quote: quoteOfSoundEffect(call.row, body), command: commandOf(body) };
    return this.audio.play(call, body, (work) => work(order), response);
  }
}

/** What the requested seconds cost. */
export function quoteOfSoundEffect(
  { price }: ModelRow<'sound-effect'>,
  { duration_seconds: seconds }: SoundEffectBody,
): Quote {
  // Rounding a double up is exact, but multiplying it would not be.
  return quoteOfSeconds(price, BigInt(Math.ceil(seconds)));
}

function commandOf(body: SoundEffectBody): SoundEffectCommand {
  return {
    prompt: body.prompt,
    durationSeconds: body.duration_seconds,
    format: body.response_format,
    promptInfluence: body.prompt_influence,
    loop: body.loop,
  };
}
