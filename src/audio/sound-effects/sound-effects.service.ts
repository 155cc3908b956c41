import { Injectable } from '@nestjs/common';
import type { AudioWriter } from '../../common/http/audio-writer.js';
import { quoteOfSeconds } from '../../catalog/price-rule.js';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { SoundEffectCommand } from '../../providers/ports/sound-effect.port.js';
import { PaidAudio } from '../paid-audio.js';
import type { SoundEffectBody } from './dto/sound-effect.body.js';

/** Sound effects (spec: POST /v1/audio/sound-effects). */
@Injectable()
export class SoundEffectsService {
  constructor(private readonly audio: PaidAudio) {}

  /**
   * Makes the sound into the answer's body. The seconds asked for are billed, rounded up without any allowance, however
   * long the sound turns out (decision G-21). Throws what `PaidAudio.play` throws.
   */
  async make(
    call: AdmittedCall<'sound-effect'>,
    body: SoundEffectBody,
    writer: AudioWriter,
  ): Promise<void> {
    const command = commandOf(body);
    // Rounding up a double is exact; it is multiplying one that would not be.
    const seconds = BigInt(Math.ceil(command.durationSeconds));
    await this.audio.play(
      call,
      quoteOfSeconds(call.row.price, seconds),
      (port, context) => port.makeSound(command, context),
      command.format,
      writer,
    );
  }
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
