import assert from 'node:assert/strict';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { ModelGuard } from '../../admission/model.guard.js';
import type { Task } from '../task.js';
import { TaskRepository } from '../reads/task.repository.js';
import { IdempotencyClaims } from './idempotency-claims.js';
import { idempotencyKeyOf } from './idempotency-key.guard.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** The task of an earlier request with the same key and body, which is the answer. Set by the task model guard. */
    replayed?: Task;
  }
}

/**
 * The checks of the model, which a replay does not depend on: a task that was accepted is answered with its key and body whatever
 * has become of its model, of the key's allowlist or of the provider (decision G-86). Other requests are checked as everywhere.
 */
@Injectable()
export class TaskModelGuard implements CanActivate {
  constructor(
    private readonly models: ModelGuard,
    private readonly claims: IdempotencyClaims,
    private readonly reader: TaskRepository,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const task = await this.replayOf(request);
    if (!task) return this.models.canActivate(context);
    request.replayed = task;
    return true;
  }

  private async replayOf({ headers, caller, body, route }: Request): Promise<Task | undefined> {
    const key = idempotencyKeyOf(headers);
    if (key === undefined) return undefined;
    assert(caller, 'the model guard stands behind the bearer guard');
    const { path: endpoint } = route as { readonly path: string };
    const { accountId } = caller;
    const taskId = await this.claims.replayed({ accountId, endpoint, key }, body as object);
    return taskId === undefined ? undefined : this.reader.find(taskId, accountId);
  }
}
