import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../common/json-object.js';
import { SecretBoxError } from '../../common/secrets/secret-box.js';
import { toEpochSeconds } from '../../common/time/clock.js';
import { TaskRepository } from '../../tasks/reads/task.repository.js';
import { TaskInputs } from '../../tasks/submission/task-inputs.js';
import { orderedModelOf, type Task, TASK_CANCELLED } from '../../tasks/task.js';
import type { TaskEnding } from '../../tasks/task-kind.js';
import { uuidOfItem } from '../../stored-responses/response-ids.js';
import { ResponseStore } from '../../stored-responses/response-store.js';
import type { Bill } from '../../text/text-face.js';
import type { ResponsesBody } from '../dto/responses.body.js';
import { responseObject, type ResponseState } from '../output/response-object.js';
import { type BackgroundInput, inputOfTask } from './background-input.js';

/** The answer of a response that was made in the background. */
export interface BackgroundAnswer {
  readonly status: 'completed' | 'incomplete' | 'cancelled' | 'failed';
  readonly incompleteReason?: string;
  readonly error?: NonNullable<ResponseState['error']>;
  /** As the caller gets it, and as it is stored. */
  readonly output: readonly JsonObject[];
  readonly stored: readonly JsonObject[];
  readonly bill: Bill;
}

const TOO_MANY_REQUESTS = 429;
/** Statuses of a provider that refuses the request for what it asks. */
const REFUSALS = [400, 413, 422];

/** The response objects of tasks. */
@Injectable()
export class BackgroundObjects {
  constructor(
    private readonly repository: TaskRepository,
    private readonly inputs: TaskInputs,
    private readonly store: ResponseStore,
  ) {}

  /** The sealed input of a task; undefined after its end, and where no key opens it. */
  async inputOf(task: Task): Promise<BackgroundInput | undefined> {
    const sealed = await this.repository.sealedInput(task);
    try {
      return inputOfTask(this.inputs.open(sealed, task.id));
    } catch (error) {
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }

  /** What may be read of a response that has not ended; undefined after its end, and once all of its account was erased. */
  async readableInputOf(task: Task): Promise<BackgroundInput | undefined> {
    if (task.completedAt !== null || (await this.store.isErased(task))) return undefined;
    return this.inputOf(task);
  }

  /** A response that has not ended. */
  open(task: Task, body: ResponsesBody): JsonObject {
    const status = task.status === 'queued' ? 'queued' : 'in_progress';
    return objectOf(task, body, { status, output: [], isStored: true });
  }

  /** What is told and stored of a response that has ended. */
  async ended(task: Task, answer: BackgroundAnswer | undefined): Promise<TaskEnding> {
    const input = await this.inputOf(task);
    // Without its input a response has its task's facts alone.
    const body = input?.body ?? ({ model: task.model, background: true } as ResponsesBody);
    const told = objectOf(task, body, stateOf(task, answer));
    const { output: _output, ...response } = told;
    const made = (answer?.stored ?? []).map((item) => ({ id: uuidOfItem(item), item }));
    const stored = this.store.rowOf({
      id: task.id,
      response,
      items: [...(input?.items ?? []), ...made],
      outputItems: made.length,
    });
    return { told, stored: stored ?? null };
  }
}

function objectOf(task: Task, body: ResponsesBody, state: ResponseState): JsonObject {
  const createdAt = toEpochSeconds(task.createdAt);
  const head = { executionId: task.id, createdAt, model: orderedModelOf(task), body };
  return responseObject(head, state);
}

function stateOf(task: Task, answer: BackgroundAnswer | undefined): ResponseState {
  const { completedAt, error } = task;
  const ended = {
    isStored: true,
    ...(completedAt && { completedAt: toEpochSeconds(completedAt) }),
  };
  if (answer) {
    const { stored: _stored, ...told } = answer;
    return { ...told, ...ended };
  }
  if (error?.code === TASK_CANCELLED) return { status: 'cancelled', output: [], ...ended };
  const message = error?.message ?? 'The response was not made in time.';
  const failure = { code: failureCodeOf(task), message };
  return { status: 'failed', output: [], error: failure, isStored: true };
}

/** Why it failed, in the words of the protocol. */
function failureCodeOf({ fault }: Task): string {
  const status = fault?.status ?? 0;
  if (status === TOO_MANY_REQUESTS) return 'rate_limit_exceeded';
  return REFUSALS.includes(status) ? 'invalid_prompt' : 'server_error';
}
