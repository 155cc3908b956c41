import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { map, type Observable, of } from 'rxjs';
import { setSandboxHeader } from '../../platform/http-server/responses/gateway-headers.js';
import { toPublicId } from '../../common/ids/public-id.js';
import { GatewayUrl } from '../../platform/http-client/gateway-url.js';
import type { Task } from '../task.js';
import { TaskKinds } from '../task-kinds.js';

/** Metadata key of the function that makes the response body, if it is not the view of the task's kind. */
export const TASK_RESPONSE_BODY = Symbol('TASK_ANSWER');

/** Turns the new task into the response body and sets the headers that name it (API: Task states). */
@Injectable()
export class TaskResponseInterceptor implements NestInterceptor<Task, object> {
  constructor(
    private readonly kinds: TaskKinds,
    private readonly reflector: Reflector,
    private readonly gatewayUrl: GatewayUrl,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<Task>): Observable<object> {
    const response = context.switchToHttp().getResponse<Response>();
    const { replayed } = context.switchToHttp().getRequest<Request>();
    const toBody = this.reflector.get<((task: Task) => object) | undefined>(
      TASK_RESPONSE_BODY,
      context.getHandler(),
    );
    // A replay skips the handler, and with it the validation of fields, which depends on the model.
    return (replayed ? of(replayed) : next.handle()).pipe(
      map((task) => this.answerOf(task, response, toBody)),
    );
  }

  /** The response body of a new task; sets the headers that name it. */
  answerOf(task: Task, response: Response, toBody?: (task: Task) => object): object {
    const id = toPublicId('task', task.id);
    response.setHeader('Location', `${this.gatewayUrl.pathPrefix}/v1/tasks/${id}`);
    response.setHeader('x-gateway-task-id', id);
    setSandboxHeader(response, task.onSandbox);
    return toBody ? toBody(task) : this.kinds.viewOf(task);
  }
}
