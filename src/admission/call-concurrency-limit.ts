import { Inject, Injectable } from '@nestjs/common';
import type { GatewayError } from '../common/errors/gateway-error.js';
import { Quota } from '../platform/fairness/quota.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';

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
export class CallConcurrencyLimit {
  private readonly ofKeys: Quota;
  private readonly ofAccounts: Quota;

  constructor(
    @Inject(GATEWAY_CONFIG)
    { maxParallelCallsPerKey }: Pick<GatewayConfig, 'maxParallelCallsPerKey'>,
  ) {
    const perKey = maxParallelCallsPerKey === 0 ? Infinity : maxParallelCallsPerKey;
    this.ofKeys = new Quota({ total: Infinity, perHolder: perKey, what: WHAT });
    const perHolder = perKey * KEYS_PER_ACCOUNT;
    this.ofAccounts = new Quota({ total: Infinity, perHolder, what: WHAT });
  }

  /** Counts a call, to be given back at its end; counts nothing where it returns the refusal, `rate_limit_exceeded`. */
  acquire({ apiKeyId, accountId }: CallOwner): GatewayError | undefined {
    const refusal = this.ofKeys.check(apiKeyId, 1) ?? this.ofAccounts.acquire(accountId, 1);
    if (refusal === undefined) this.ofKeys.acquire(apiKeyId, 1);
    return refusal;
  }

  /** The call has ended. */
  release({ apiKeyId, accountId }: CallOwner): void {
    this.ofKeys.release(apiKeyId, 1);
    this.ofAccounts.release(accountId, 1);
  }
}
