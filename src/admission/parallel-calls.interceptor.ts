import assert from 'node:assert/strict';
import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import { finalize, type Observable } from 'rxjs';
import { SharedQuantity } from '../common/shared-quantity.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../config/gateway-config.js';

/** As many keys' worth of parallel calls may one account have under way. */
const KEYS_PER_ACCOUNT = 5;
const WHAT = 'calls under way at once';

/**
 * Bounds the synchronous paid calls that one key (`MAX_PARALLEL_CALLS_PER_KEY`) and one account have under way, until their
 * work is done, whether or not the client is still there. Throws `rate_limit_exceeded` before any hold (decision G-100).
 */
@Injectable()
export class ParallelCallsInterceptor implements NestInterceptor {
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

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { caller } = context.switchToHttp().getRequest<Request>();
    assert(caller, 'calls are counted behind the bearer guard');
    const { apiKeyId, accountId } = caller;
    const tooMany = this.ofKeys.refusal(apiKeyId, 1) ?? this.ofAccounts.take(accountId, 1);
    if (tooMany) throw tooMany;
    this.ofKeys.take(apiKeyId, 1);
    return next.handle().pipe(
      finalize(() => {
        this.ofKeys.give(apiKeyId, 1);
        this.ofAccounts.give(accountId, 1);
      }),
    );
  }
}
