import { isBlank } from '../common/validation/text-rule.js';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ModelRow } from '../catalog/model-row.js';
import { quoteOfRequest, quoteOfSeconds } from '../catalog/price-rule.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Quote } from '../common/money/charge-basis.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { CompositionCommand } from '../providers/ports/audio.port.js';
import { PaidAudio } from './paid-audio.js';
import type { MusicCompositionBody } from './dto/sounds.body.js';

/** What is asked for where the caller names no length (API: POST /v1/audio/music). */
const DEFAULT_SECONDS = 30;

/** Music composition (API: POST /v1/audio/music). */
@Injectable()
export class MusicCompositionService {
  constructor(private readonly audio: PaidAudio) {}

  /**
   * Composes into the body of the response, which may start after minutes. The requested seconds are billed, whatever
   * the duration of the track, or the song. Throws what {@link quoteOfComposition} and `PaidAudio.play` throw.
   */
  compose(
    call: AdmittedCall<'composition'>,
    body: MusicCompositionBody,
    response: Response,
  ): Promise<void> {
    const { quote, durationSeconds } = termsOf(call.row, body);
    const order = { quote, command: commandOf(body, durationSeconds) };
    return this.audio.play(call, body, (work) => work(order), response);
  }
}

/** What the requested seconds cost, or the song. Throws `invalid_request` for a length where the model cannot be asked for one. */
export function quoteOfComposition(
  row: ModelRow<'composition'>,
  body: MusicCompositionBody,
): Quote {
  return termsOf(row, body).quote;
}

function termsOf(
  { id, price }: ModelRow<'composition'>,
  { duration_seconds: seconds }: MusicCompositionBody,
): { readonly quote: Quote; readonly durationSeconds?: number } {
  if (price.unit === 'requested_second') {
    const durationSeconds = seconds ?? DEFAULT_SECONDS;
    return { quote: quoteOfSeconds(price, BigInt(durationSeconds)), durationSeconds };
  }
  if (seconds === undefined) return { quote: quoteOfRequest(price) };
  const message = `duration_seconds is not taken by ${id}, which decides the length of a song itself.`;
  throw new GatewayError('invalid_request', message, { param: 'duration_seconds' });
}

/** Lyrics are left out for instrumental music, and if they are blank (decision G-50). */
function commandOf(
  body: MusicCompositionBody,
  durationSeconds: number | undefined,
): CompositionCommand {
  const { lyrics = '', instrumental } = body;
  return {
    prompt: body.prompt,
    durationSeconds,
    format: body.response_format,
    lyrics: instrumental !== true && !isBlank(lyrics) ? lyrics : undefined,
    instrumental,
  };
}
