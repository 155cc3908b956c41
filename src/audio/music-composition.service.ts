import { isBlank } from '../common/validation/text-rule.js';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfSeconds } from '../catalog/price-rule.js';
import type { Quote } from '../common/money/charge-basis.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { CompositionCommand } from '../providers/ports/audio.port.js';
import { PaidAudio } from './paid-audio.js';
import type { MusicCompositionBody } from './dto/sounds.body.js';

/** Music composition (API: POST /v1/audio/music). */
@Injectable()
export class MusicCompositionService {
  constructor(private readonly audio: PaidAudio) {}

  /**
   * Composes into the body of the response, which may start after minutes. The requested seconds are billed, whatever
   * the duration of the track. Throws what `PaidAudio.play` throws.
   */
  compose(
    call: AdmittedCall<'composition'>,
    body: MusicCompositionBody,
    response: Response,
  ): Promise<void> {
    const order = { quote: quoteOfComposition(call.row, body), command: commandOf(body) };
    return this.audio.play(call, body, (work) => work(order), response);
  }
}

/** What the requested seconds cost. */
export function quoteOfComposition(
  { price }: ModelRow<'composition'>,
  { duration_seconds: seconds }: MusicCompositionBody,
): Quote {
  return quoteOfSeconds(price, BigInt(seconds));
}

/** Lyrics are left out for instrumental music, and if they are blank (decision G-50). */
function commandOf(body: MusicCompositionBody): CompositionCommand {
  const { lyrics = '', instrumental } = body;
  return {
    prompt: body.prompt,
    durationSeconds: body.duration_seconds,
    format: body.response_format,
    lyrics: instrumental !== true && !isBlank(lyrics) ? lyrics : undefined,
    instrumental,
  };
}
