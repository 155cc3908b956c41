import { isBlank } from '../common/validation/text-rule.js';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfRequest, quoteOfSeconds } from '../catalog/price-rule.js';
import { invalidField } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { CompositionCommand } from '../providers/ports/audio.port.js';
import { PaidAudio } from './paid-audio.js';
import type { MusicCompositionBody } from './dto/sounds.body.js';

/** The length of music for which the caller names none, where it is sold by the second. */
const DEFAULT_SECONDS = 30;

/** Music composition (API: POST /v1/audio/music). */
@Injectable()
export class MusicCompositionService {
  constructor(private readonly audio: PaidAudio) {}

  /**
   * Composes into the body of the response, which may start after minutes. Billed are the requested seconds, whatever the
   * duration of the track, or the song. Throws what {@link quoteOfComposition} and `PaidAudio.play` throw.
   */
  compose(
    call: AdmittedCall<'composition'>,
    body: MusicCompositionBody,
    response: Response,
  ): Promise<void> {
    const whole = withLength(call.row, body);
    const order = { quote: quoteOfComposition(call.row, whole), command: commandOf(whole) };
    // The whole body, because requests with one idempotency key are compared by it.
    return this.audio.play(call, whole, (work) => work(order), response);
  }
}

/**
 * What the requested seconds cost, or the song. Throws `invalid_request` for a length or a format that a model which is sold
 * by the song cannot be asked for (decision G-115).
 */
export function quoteOfComposition(
  row: ModelRow<'composition'>,
  body: MusicCompositionBody,
): Quote {
  const { price } = row;
  if (price.unit === 'requested_second') {
    const { duration_seconds: seconds = DEFAULT_SECONDS } = body;
    return quoteOfSeconds(price, BigInt(seconds));
  }
  if (body.duration_seconds !== undefined)
    throw invalidField('duration_seconds', `is not taken by ${row.id}, which is sold by the song`);
  if (body.response_format !== 'mp3')
    throw invalidField('response_format', `must be mp3 for ${row.id}`);
  return quoteOfRequest(price);
}

function withLength(
  { price }: ModelRow<'composition'>,
  body: MusicCompositionBody,
): MusicCompositionBody {
  if (price.unit === 'request') return body;
  return { ...body, duration_seconds: body.duration_seconds ?? DEFAULT_SECONDS };
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
