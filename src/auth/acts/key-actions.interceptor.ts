import assert from 'node:assert/strict';
import {
  type CallHandler,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { READING_METHODS } from '../operators/operator.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { fromPublicId, toPublicId } from '../../common/ids/public-id.js';
import { ApiKeysService } from '../api-keys.service.js';
import { viewKey } from '../api-key.view.js';
import { TOKEN_BUCKETS } from '../rate-limit/rate-limit.guard.js';
import type { TokenBuckets } from '../rate-limit/token-bucket.js';
import { OperatorActions } from './operator-actions.js';
import { actOf } from './operator-acts.js';

/** Each act is a record that stays, so a key may not fill the table with them. Enough to make all the keys that it may have. */
const ACTS_PER_MINUTE = 120;

/**
 * Records every change that a key requests, as {@link OperatorActions} records those of operators: the actor is the key. Throws
 * 429 `rate_limit_exceeded` above {@link ACTS_PER_MINUTE}, and then records nothing.
 */
@Injectable()
export class KeyActionsInterceptor implements NestInterceptor {
  constructor(
    private readonly actions: OperatorActions,
    private readonly keys: ApiKeysService,
    @Inject(TOKEN_BUCKETS) private readonly buckets: TokenBuckets,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const { caller, method, params, ip } = request;
    if (READING_METHODS.includes(method)) return next.handle();
    assert(caller, 'KeyActionsInterceptor needs BearerGuard on the endpoint');
    const { path } = request.route as { readonly path: string };
    const { id } = params;
    const action = {
      actor: toPublicId('key', caller.apiKeyId),
      action: actOf(`${method} ${path}`),
      target: typeof id === 'string' ? id : toPublicId('acct', caller.accountId),
      address: ip ?? null,
    };
    const perform = () => lastValueFrom(next.handle(), { defaultValue: undefined });
    const read = (target: string) => this.read(target, caller.accountId);
    const { apiKeyId } = caller;
    return from(this.count(apiKeyId).then(() => this.actions.perform(action, perform, read)));
  }

  private async count(apiKeyId: string): Promise<void> {
    const { allowed, retryAfterMs } = await this.buckets.take(`${apiKeyId}:act`, ACTS_PER_MINUTE);
    if (allowed) return;
    const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
    const message = `An API key may ask for ${ACTS_PER_MINUTE} changes a minute. Try again in ${seconds} s.`;
    throw new GatewayError('rate_limit_exceeded', message, { retryAfterSeconds: seconds });
  }

  /** The key as operators see it, if it is one of the account. */
  private async read(target: string, accountId: string): Promise<unknown> {
    const id = fromPublicId('key', target);
    const key = id === undefined ? undefined : await this.keys.find(id);
    return key?.accountId === accountId ? viewKey(key) : undefined;
  }
}
