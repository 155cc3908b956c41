import type { Operation } from '../providers/ports/operation.js';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { CHARGE_HEADER, type ResponseFormat, sendAudio } from '../common/http/audio-answer.js';
import { formatMicroUsd, type MicroUsd } from '../common/money/micro-usd.js';
import type { AdmittedCall } from '../admission/admitted-call.js';
import { PayOnSuccess } from '../executions/pay-on-success.js';
import type { ProviderAudio } from '../providers/ports/provider-audio.js';
import { type Attempt, ProviderRouter } from '../providers/routing/provider-router.js';

/** Operations whose answer is data, … */
type DataOperation = 'transcription' | 'alignment';
/** … and those whose answer is audio. */
type AudioOperation = Exclude<Operation, DataOperation | 'chat' | 'image'>;

/** What is asked of a provider, and what it costs the caller. */
export interface Purchase<O extends Operation, T> {
  readonly operation: O;
  readonly priceMicroUsd: MicroUsd;
  readonly attempt: Attempt<O, T>;
}

/** The last step of every synchronous audio endpoint: pay, have a provider do the work, answer. */
@Injectable()
export class PaidAudio {
  constructor(
    private readonly payment: PayOnSuccess,
    private readonly router: ProviderRouter,
  ) {}

  /**
   * Sends the provider's audio as it comes; the answer ends once the charge is durable (decisions G-25, G-28). Throws 402
   * `insufficient_funds` and the provider's failures.
   */
  async play<O extends AudioOperation>(
    call: AdmittedCall<O>,
    { operation, priceMicroUsd, attempt }: Purchase<O, ProviderAudio>,
    format: ResponseFormat,
    response: Response,
  ): Promise<void> {
    const end = await this.payment.run(call, priceMicroUsd, async (signal) => {
      const { provider, result } = await this.router.run(call.routes, operation, attempt, signal);
      const value = await sendAudio(response, result.body, format, priceMicroUsd);
      return { value, provider, providerRequestId: result.providerRequestId };
    });
    end();
  }

  /** The provider's data, once it is paid for; puts the charge into the head of the answer. Throws as `play`. */
  async ask<O extends DataOperation, T extends { readonly providerRequestId: string | null }>(
    call: AdmittedCall<O>,
    { operation, priceMicroUsd, attempt }: Purchase<O, T>,
    response: Response,
  ): Promise<T> {
    const value = await this.payment.run(call, priceMicroUsd, async (signal) => {
      const { provider, result } = await this.router.run(call.routes, operation, attempt, signal);
      return { value: result, provider, providerRequestId: result.providerRequestId };
    });
    response.setHeader(CHARGE_HEADER, formatMicroUsd(priceMicroUsd));
    return value;
  }
}
