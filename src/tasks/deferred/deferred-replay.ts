import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { EMPTY, type Observable } from 'rxjs';
import { checkedIdempotencyKey } from '../../admission/idempotency-key.guard.js';
import { CallModelGuard } from '../../admission/kept/call-model.guard.js';
import { prefers, RESPOND_ASYNC } from '../../admission/preferences.js';
import { isJsonObject } from '../../common/json-object.js';
import { validatorOf } from '../../common/validation/compiled-validator.js';
import { AudioWebhook, AudioWebhookSecret } from '../../webhooks/webhook-fields.js';
import { TaskModelGuard } from '../submission/task-model.guard.js';
import { DeferredCalls } from './deferred-calls.js';

/** The fields of a body by which the end of its task is told. */
class DeferredWebhook {
  @AudioWebhook()
  webhook?: string;

  @AudioWebhookSecret()
  webhook_secret?: string;
}

/**
 * Checks the model of a call, as {@link CallModelGuard} does. One that becomes a task (`Prefer: respond-async`) is checked as a
 * submission: an accepted task is returned again, and the webhook is taken out of the body, which has no other field than that of
 * a call (API: Shared audio rules).
 */
@Injectable()
export class DeferrableModelGuard implements CanActivate {
  private readonly webhooks = validatorOf(DeferredWebhook);

  constructor(
    private readonly calls: CallModelGuard,
    private readonly tasks: TaskModelGuard,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    return prefers(request.headers.prefer, RESPOND_ASYNC)
      ? this.admitTask(context, request)
      : this.calls.canActivate(context);
  }

  private async admitTask(context: ExecutionContext, request: Request): Promise<boolean> {
    const idempotencyKey = checkedIdempotencyKey(request);
    // The body is not checked yet: it may be any JSON.
    const body: unknown = request.body;
    if (!isJsonObject(body)) return this.tasks.canActivate(context);
    const { webhook, webhook_secret, ...rest } = body;
    // Replays are known by all that was sent, quotes by what a call has.
    const sent = (request.keyedBody ??= { fields: body });
    request.body = rest;
    if (!(await this.tasks.canActivate(context))) return false;
    if (request.replayed) return true;
    const { webhook: url, webhook_secret: secret } = this.webhooks.parse({
      ...(webhook !== undefined && { webhook }),
      ...(webhook_secret !== undefined && { webhook_secret }),
    });
    const hook = url === undefined ? undefined : { url, secret };
    request.deferral = { idempotencyKey, webhook: hook, sent, files: sent.files };
    return true;
  }
}

/** Answers a replay with its task. The handler, which needs a model that is sold, is skipped. */
@Injectable()
export class ReplayedCallInterceptor implements NestInterceptor {
  constructor(private readonly deferred: DeferredCalls) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { replayed } = http.getRequest<Request>();
    if (!replayed) return next.handle();
    this.deferred.answer(replayed, http.getResponse<Response>());
    return EMPTY;
  }
}
