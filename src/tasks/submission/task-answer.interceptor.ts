import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { map, type Observable, of } from 'rxjs';
import { tellSandbox } from '../../platform/http-server/responses/sandbox-answer.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';

/** Metadata key of the answer to a submission, if it is not the view of the task's kind. */
export const TASK_ANSWER = Symbol('TASK_ANSWER');

/** Turns the new task into the answer and names it in the headers (API: Task states). */
@Injectable()
export class TaskAnswerInterceptor implements NestInterceptor<Task, object> {
  constructor(
    private readonly kinds: TaskKinds,
    private readonly reflector: Reflector,
    private readonly gatewayUrl: GatewayUrl,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<Task>): Observable<object> {
    const response = context.switchToHttp().getResponse<Response>();
    const { replayed } = context.switchToHttp().getRequest<Request>();
    const answer = this.reflector.get<((task: Task) => object) | undefined>(
      TASK_ANSWER,
      context.getHandler(),
    );
    // A replay is answered without the checks of its fields, which depend on its model.
    return (replayed ? of(replayed) : next.handle()).pipe(
      map((task) => {
        const id = toPublicId('task', task.id);
        response.setHeader('Location', `${this.gatewayUrl.pathPrefix}/v1/tasks/${id}`);
        response.setHeader('x-gateway-task-id', id);
        tellSandbox(response, task.onSandbox);
        return answer ? answer(task) : this.kinds.viewOf(task);
      }),
    );
  }
}
