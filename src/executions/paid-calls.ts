import { Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../admission/admitted-call.js';
import type { Charged } from '../common/http/charged-answer.js';
import type { ChargeBasis, Quote } from '../common/money/charge-basis.js';
import type { MicroUsd } from '../common/money/micro-usd.js';
import type { StopSignal } from '../common/stop-signal.js';
import type { Operation } from '../providers/ports/operation.js';
import {
  ProviderRouter,
  type ProviderWork,
  type RoutedResult,
} from '../providers/routing/provider-router.js';
import { PayOnSuccess } from './pay-on-success.js';

/** Every provider names its answer, where it does, in this field. */
interface NamedAnswer {
  readonly providerRequestId: string | null;
}

/** What the caller gets of a provider's answer; `chargedMicroUsd` where that is less than the hold. */
export interface Taken<V> {
  readonly value: V;
  readonly chargedMicroUsd?: MicroUsd;
  readonly basis?: ChargeBasis;
}

/** An admitted call from its hold to its settlement, on the first of its routes that takes it. */
@Injectable()
export class PaidCalls {
  constructor(
    private readonly payOnSuccess: PayOnSuccess,
    private readonly router: ProviderRouter,
  ) {}

  /**
   * Holds the price, has a provider do the work, hands the provider's answer to `take`, settles. Resolves once the charge is
   * durable. Throws 402 and the provider's failures, after the release; what `take` throws is a failure too.
   */
  async run<O extends Operation, T extends NamedAnswer, V>(
    call: AdmittedCall<O>,
    quote: Quote,
    work: ProviderWork<O, T>,
    take: (
      answer: RoutedResult<T>,
      signal: StopSignal,
      onFirstByte: () => void,
    ) => Promise<Taken<V>> | Taken<V>,
  ): Promise<Charged<V>> {
    return this.payOnSuccess.run(call, quote, async (signal, onFirstByte) => {
      const operation = call.row.operation as O;
      const answer = await this.router.run(call.routes, operation, work, signal);
      const taken = await take(answer, signal, onFirstByte);
      const { value, basis, chargedMicroUsd = quote.amountMicroUsd } = taken;
      return {
        value: { value, chargedMicroUsd },
        provider: answer.provider,
        upstreamModel: answer.upstreamModel,
        providerRequestId: answer.result.providerRequestId,
        chargedMicroUsd,
        ...(basis && { basis }),
      };
    });
  }

  /** {@link run} where the caller gets the provider's answer as it is. */
  ask<O extends Operation, T extends NamedAnswer>(
    call: AdmittedCall<O>,
    quote: Quote,
    work: ProviderWork<O, T>,
  ): Promise<Charged<T>> {
    return this.run(call, quote, work, ({ result }) => ({ value: result }));
  }
}
