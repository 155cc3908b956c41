import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import {
  type AwaitedTask,
  taskNotFound,
  type WaitPreference,
  TasksService,
} from '../tasks/reads/tasks.service.js';
import { orderedModelOf, type Task } from '../tasks/task.js';
import { VIDEO_KIND } from './video.kind.js';

/** The requested video and its reader. `model` is checked if it was sent. */
export interface VideoReading {
  readonly caller: Pick<Caller, 'accountId'>;
  readonly id: string;
  readonly model: string | undefined;
}

/** Videos as the holder of a key reads them. */
@Injectable()
export class VideoReads {
  constructor(private readonly tasks: TasksService) {}

  /**
   * The task of the video. Throws the same 404 `task_not_found` for unknown, foreign and malformed ids and for tasks of
   * other kinds, and 400 `invalid_request` for another model than the video's (decisions G-52, G-59).
   */
  async get({ caller, id, model }: VideoReading): Promise<Task> {
    return videoOf(await this.tasks.get(caller, id), model);
  }

  /** {@link get}, after a wait for the video's end that is as long as the reader requests (decision G-98). */
  async getAfterWait(
    reading: VideoReading & { readonly caller: Caller },
    patience: WaitPreference | undefined,
  ): Promise<AwaitedTask> {
    const task = await this.get(reading);
    return patience ? this.tasks.getAfterWait(reading.caller, reading.id, patience) : { task };
  }
}

function videoOf(task: Task, model: string | undefined): Task {
  if (task.kind !== VIDEO_KIND) throw taskNotFound();
  const names = [undefined, task.model, orderedModelOf(task)];
  if (names.includes(model)) return task;
  throw new GatewayError('invalid_request', 'model is not that of the video.', { param: 'model' });
}
