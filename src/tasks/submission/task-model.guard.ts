import assert from 'node:assert/strict';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ModelGuard } from '../../admission/model.guard.js';
import type { Task } from '../task.js';
import { TaskRepository } from '../reads/task.repository.js';
import { IdempotencyClaims } from './idempotency-claims.js';
import { idempotencyKeyOf } from '../../admission/idempotency-key.guard.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The task of an earlier request with the same key and body, to be returned again. Set by the task model guard. */
    replayed?: Task;
  }
}

/**
 * Checks the model, except for replays: an accepted task is returned again for the same key and body, even if its model, the
 * key's allowlist or the provider has changed since (decision G-86).
 */
@Injectable()
export class TaskModelGuard implements CanActivate {
  constructor(
    private readonly models: ModelGuard,
    private readonly claims: IdempotencyClaims,
    private readonly repository: TaskRepository,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const task = await this.replayOf(request);
    if (!task) return this.models.canActivate(context);
    request.replayed = task;
    return true;
  }

  private async replayOf({
    headers,
    caller,
    route,
    ...request
  }: Request): Promise<Task | undefined> {
    const key = idempotencyKeyOf(headers);
    if (key === undefined) return undefined;
    assert(caller, 'TaskModelGuard needs BearerGuard before it');
    const { path: endpoint } = route as { readonly path: string };
    const { accountId } = caller;
    const sent = request.keyedBody ?? (request.body as object);
    const taskId = await this.claims.replayed({ accountId, endpoint, key }, sent);
    return taskId === undefined ? undefined : this.repository.find(taskId, accountId);
  }
}
