import assert from 'node:assert/strict';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { fromPublicId, toPublicId } from '../../common/ids/public-id.js';
import { ApiKeysService } from '../api-keys.service.js';
import { viewKey } from '../api-key.view.js';
import { OperatorActions } from './operator-actions.js';
import { actOf } from './operator-acts.js';

const READING: readonly string[] = ['GET', 'HEAD'];

/** Records every change that a key requests, as {@link OperatorActions} records those of operators: the actor is the key. */
@Injectable()
export class KeyActionsInterceptor implements NestInterceptor {
  constructor(
    private readonly actions: OperatorActions,
    private readonly keys: ApiKeysService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const { caller, method, params, ip } = request;
    if (READING.includes(method)) return next.handle();
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
    return from(this.actions.perform(action, perform, read));
  }

  /** The key as operators see it, if it is one of the account. */
  private async read(target: string, accountId: string): Promise<unknown> {
    const id = fromPublicId('key', target);
    const key = id === undefined ? undefined : await this.keys.find(id);
    return key?.accountId === accountId ? viewKey(key) : undefined;
  }
}
