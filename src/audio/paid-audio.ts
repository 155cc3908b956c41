import { Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type {
  AudioWriter,
  AudioFormatName,
} from '../platform/http-server/responses/audio-response.js';
import type { Quote } from '../common/money/charge-basis.js';
import { PaidCalls } from '../billing/calls/paid-calls.js';
import type { Operation } from '../providers/ports/provider-ports.js';
import type { ProviderAudio } from '../providers/ports/audio.port.js';
import type { ProviderWork } from '../providers/routing/provider-router.js';
import { SizedWav } from './wav/sized-wav.js';

/** A paid call whose response is audio. */
@Injectable()
export class PaidAudio {
  constructor(
    private readonly calls: PaidCalls,
    private readonly wav: SizedWav,
  ) {}

  /**
   * Sends the provider's audio as it arrives; a WAV with correct sizes once it is complete ({@link SizedWav}). The
   * response ends once the charge is durable (decisions G-25, G-28). Throws 402 `insufficient_funds` and the provider's
   * failures.
   */
  async play<O extends Operation>(
    call: AdmittedCall<O>,
    quote: Quote,
    work: ProviderWork<O, ProviderAudio>,
    format: AudioFormatName,
    writer: AudioWriter,
  ): Promise<void> {
    await using paid = await this.calls.start(call, quote);
    const { result } = await paid.attempt(work);
    const { accountId } = call.caller;
    const arrived = (): void => {
      paid.onArrival();
    };
    const audio =
      format === 'wav'
        ? await paid.orRelease(this.wav.of(result.body, accountId, arrived))
        : result.body;
    audio.once('data', () => {
      paid.onFirstByte();
    });
    const end = await paid.orRelease(writer.stream(audio, format, quote.amountMicroUsd));
    await paid.settle();
    end();
  }
}
