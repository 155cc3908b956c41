import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { Task } from './task.js';
import type { PreparedTask, TaskRequest } from './task-request.js';

/** Makes tasks: idempotency, hold, task and key in one transaction (spec: Task states; decisions G-54, G-86). */
@Injectable()
export class TaskSubmission {
  /**
   * The task of the request: a new one, or that of an earlier request with the same key and body. `prepare` runs at most
   * once at a time for one key and never for a replay; whatever it throws is thrown on and leaves the key free.
   * Throws 400 for a refused webhook, 402 when the balance cannot cover the price, 409 `idempotency_conflict`.
   */
  submit(_request: TaskRequest, _prepare: () => Promise<PreparedTask>): Promise<Task> {
    return Promise.reject(new GatewayError('service_unavailable', 'Tasks are not served yet.'));
  }
}
