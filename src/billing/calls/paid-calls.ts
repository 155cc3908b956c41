import { Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { Charged } from '../../common/http/answers/charged-answer.js';
import type { ChargeBasis, Quote } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { ProviderFigures } from '../../common/money/provider-figures.js';
import type { Operation } from '../../providers/ports/operation.js';
import {
  ProviderRouter,
  type ProviderWork,
  type RoutedResult,
} from '../../providers/routing/provider-router.js';
import { PayOnSuccess } from './pay-on-success.js';
import type { CallProgress } from './call-state.js';

/** The fields in which every provider names its answer and what it cost, if it does. */
interface NamedAnswer {
  readonly providerRequestId: string | null;
  /** What the provider said that it cost; operators see it on the record. */
  readonly providerFigures?: ProviderFigures | undefined;
}

/** What the caller gets from a provider's answer, and `chargedMicroUsd` if that is less than the hold. */
export interface Taken<V> {
  readonly value: V;
  readonly chargedMicroUsd?: MicroUsd;
  readonly basis?: ChargeBasis;
  /** Whether the price was above the hold, so that only the hold is charged. */
  readonly isCapped?: boolean;
}

/** Runs an admitted call from its hold to its settlement, on the first of its routes that accepts it. */
@Injectable()
export class PaidCalls {
  constructor(
    private readonly payOnSuccess: PayOnSuccess,
    private readonly router: ProviderRouter,
  ) {}

  /**
   * Holds the price, has a provider do the work, passes the provider's answer to `take`, and settles. Resolves once the
   * charge is durable. Throws 402 and the provider's failures, after the release. An error of `take` counts as a
   * failure too.
   */
  async run<O extends Operation, T extends NamedAnswer, V>(
    call: AdmittedCall<O>,
    quote: Quote,
    work: ProviderWork<O, T>,
    take: (
      answer: RoutedResult<T>,
      signal: AbortSignal,
      progress: Pick<CallProgress, 'onFirstByte' | 'onArrival'>,
    ) => Promise<Taken<V>> | Taken<V>,
  ): Promise<Charged<V>> {
    return this.payOnSuccess.run(call, quote, async (signal, progress) => {
      const answer = await this.router.run(call.routes, call.row.operation, work, signal, progress);
      const taken = await take(answer, signal, progress);
      const { value, basis, isCapped = false, chargedMicroUsd = quote.amountMicroUsd } = taken;
      return {
        value: { value, chargedMicroUsd },
        provider: answer.provider,
        upstreamModel: answer.upstreamModel,
        providerRequestId: answer.result.providerRequestId,
        providerFigures: answer.result.providerFigures,
        chargedMicroUsd,
        isCapped,
        ...(basis && { basis }),
      };
    });
  }

  /** {@link run} for callers that get the provider's answer unchanged. */
  ask<O extends Operation, T extends NamedAnswer>(
    call: AdmittedCall<O>,
    quote: Quote,
    work: ProviderWork<O, T>,
  ): Promise<Charged<T>> {
    return this.run(call, quote, work, ({ result }) => ({ value: result }));
  }
}
