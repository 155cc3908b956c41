import { Inject, Injectable } from '@nestjs/common';
import type { GatewayError } from '../common/errors/gateway-error.js';
import { SharedQuantity } from '../common/shared-quantity.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';

/** One account may have as many parallel calls under way as this many keys. */
const KEYS_PER_ACCOUNT = 5;
const WHAT = 'calls under way at once';

/** Whose call it is. */
interface CallOwner {
  readonly apiKeyId: string;
  readonly accountId: string;
}

/** Bounds the synchronous paid calls that one key (`MAX_PARALLEL_CALLS_PER_KEY`) and one account have under way (decision G-100). */
@Injectable()
export class ParallelCalls {
  private readonly ofKeys: SharedQuantity;
  private readonly ofAccounts: SharedQuantity;

  constructor(
    @Inject(GATEWAY_CONFIG)
    { maxParallelCallsPerKey }: Pick<GatewayConfig, 'maxParallelCallsPerKey'>,
  ) {
    const perKey = maxParallelCallsPerKey === 0 ? Infinity : maxParallelCallsPerKey;
    this.ofKeys = new SharedQuantity({ total: Infinity, perHolder: perKey, what: WHAT });
    const perHolder = perKey * KEYS_PER_ACCOUNT;
    this.ofAccounts = new SharedQuantity({ total: Infinity, perHolder, what: WHAT });
  }

  /** Counts a call, to be given back at its end; counts nothing where it returns the refusal, `rate_limit_exceeded`. */
  take({ apiKeyId, accountId }: CallOwner): GatewayError | undefined {
    const refusal = this.ofKeys.refusal(apiKeyId, 1) ?? this.ofAccounts.take(accountId, 1);
    if (refusal === undefined) this.ofKeys.take(apiKeyId, 1);
    return refusal;
  }

  /** The call has ended. */
  give({ apiKeyId, accountId }: CallOwner): void {
    this.ofKeys.give(apiKeyId, 1);
    this.ofAccounts.give(accountId, 1);
  }
}
