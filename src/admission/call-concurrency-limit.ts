import { Inject, Injectable } from '@nestjs/common';
import type { GatewayError } from '../common/errors/gateway-error.js';
import { Quota } from '../platform/fairness/quota.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';

/** One account may have this many times as many parallel calls as one key. */
const KEYS_PER_ACCOUNT = 5;
const WHAT = 'calls under way at once';

/** The key and the account of a call. */
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
    this.ofKeys = new Quota({ total: Infinity, perBucket: perKey, what: WHAT });
    const perBucket = perKey * KEYS_PER_ACCOUNT;
    this.ofAccounts = new Quota({ total: Infinity, perBucket, what: WHAT });
  }

  /**
   * Counts a call; {@link release} must follow at its end. If a limit is reached, counts nothing and returns the error
   * `rate_limit_exceeded`.
   */
  acquire({ apiKeyId, accountId }: CallOwner): GatewayError | undefined {
    const error = this.ofKeys.check(apiKeyId, 1) ?? this.ofAccounts.acquire(accountId, 1);
    if (error === undefined) this.ofKeys.acquire(apiKeyId, 1);
    return error;
  }

  /** Called at the end of the call. */
  release({ apiKeyId, accountId }: CallOwner): void {
    this.ofKeys.release(apiKeyId, 1);
    this.ofAccounts.release(accountId, 1);
  }
}
