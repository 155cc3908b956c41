import { Injectable } from '@nestjs/common';
import type { AdmittedCall } from '../../admission/admitted-call.js';
import type { Charged } from '../../platform/http-server/responses/gateway-headers.js';
import type { ChargeBasis, Quote, ProviderFigures } from '../../common/money/charge-basis.js';
import type { MicroUsd } from '../../common/money/micro-usd.js';
import type { Operation } from '../../providers/ports/provider-ports.js';
import {
  ProviderRouter,
  type ProviderWork,
  type RoutedResult,
} from '../../providers/routing/provider-router.js';
import { PayOnSuccess } from './pay-on-success.js';
import type { CallProgress } from './call-state.js';

/** Fields that every provider result has: its id and cost figures, if the provider reports them. */
interface ProviderResult {
  readonly providerRequestId: string | null;
  /** Cost figures that the provider reported; operators see them in the record. */
  readonly providerFigures?: ProviderFigures | undefined;
}

/** The value for the caller, made from a provider's result; `chargedMicroUsd` is given if it is less than the hold. */
export interface Taken<V> {
  readonly value: V;
  readonly chargedMicroUsd?: MicroUsd;
  readonly basis?: ChargeBasis;
  /** Whether the price was above the hold, so that only the hold is charged. */
  readonly isCapped?: boolean;
}

/** Runs an admitted call from hold to settlement, on the first route that accepts it. */
@Injectable()
export class PaidCalls {
  constructor(
    private readonly payOnSuccess: PayOnSuccess,
    private readonly router: ProviderRouter,
  ) {}

  /**
   * Holds the price, runs `work` at a provider, passes its result to `take`, and settles. Resolves once the charge is
   * durable. Throws 402, or the provider's error after the release. An error of `take` fails the call too.
   */
  async run<O extends Operation, T extends ProviderResult, V>(
    call: AdmittedCall<O>,
    quote: Quote,
    work: ProviderWork<O, T>,
    take: (
      routed: RoutedResult<T>,
      signal: AbortSignal,
      progress: Pick<CallProgress, 'onFirstByte' | 'onArrival'>,
    ) => Promise<Taken<V>> | Taken<V>,
  ): Promise<Charged<V>> {
    return this.payOnSuccess.run(call, quote, async (signal, progress) => {
      const routed = await this.router.run(call.routes, call.row.operation, work, signal, progress);
      const taken = await take(routed, signal, progress);
      const { value, basis, isCapped = false, chargedMicroUsd = quote.amountMicroUsd } = taken;
      return {
        value: { value, chargedMicroUsd },
        provider: routed.provider,
        upstreamModel: routed.upstreamModel,
        providerRequestId: routed.result.providerRequestId,
        providerFigures: routed.result.providerFigures,
        chargedMicroUsd,
        isCapped,
        ...(basis && { basis }),
      };
    });
  }

  /** {@link run} for endpoints that return the provider's result unchanged. */
  ask<O extends Operation, T extends ProviderResult>(
    call: AdmittedCall<O>,
    quote: Quote,
    work: ProviderWork<O, T>,
  ): Promise<Charged<T>> {
    return this.run(call, quote, work, ({ result }) => ({ value: result }));
  }
}
