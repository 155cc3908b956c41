import {
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { from, type Observable } from 'rxjs';
import { CallModelGuard } from '../../admission/kept/call-model.guard.js';
import { isJsonObject } from '../../common/json-object.js';
import { checkedIdempotencyKey } from '../../admission/idempotency-key.guard.js';
import { TaskModelGuard } from '../../tasks/submission/task-model.guard.js';
import { BackgroundSubmission } from './background-submission.js';

/** Checks the model of a response, except for replays of one in the background, as {@link TaskModelGuard} does (decision G-86). */
@Injectable()
export class ResponseModelGuard implements CanActivate {
  constructor(
    private readonly models: CallModelGuard,
    private readonly tasks: TaskModelGuard,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    // The body is not checked yet: it may be any JSON.
    const body: unknown = request.body;
    if (!isJsonObject(body) || body.background !== true) return this.models.canActivate(context);
    checkedIdempotencyKey(request);
    return this.tasks.canActivate(context);
  }
}

/** Answers a replay with its response as it is now. The handler, which needs a model that is sold, is skipped. */
@Injectable()
export class ReplayedResponseInterceptor implements NestInterceptor {
  constructor(private readonly submission: BackgroundSubmission) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const { replayed } = http.getRequest<Request>();
    if (!replayed) return next.handle();
    const response = http.getResponse<Response>();
    return from(
      this.submission.answer(replayed, response).then((value) => {
        response.json(value);
      }),
    );
  }
}
