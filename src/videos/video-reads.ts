import { Injectable } from '@nestjs/common';
import type { Caller } from '../auth/caller.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { type AwaitedTask, noTask, type Patience, TaskReads } from '../tasks/reads/task-reads.js';
import type { Task } from '../tasks/task.js';
import { VIDEO_KIND } from './video.kind.js';

/** Which video is asked for, and by whom; `model` is checked where it is sent. */
export interface VideoReading {
  readonly caller: Caller;
  readonly id: string;
  readonly model: string | undefined;
}

/** Videos as the holder of a key reads them. */
@Injectable()
export class VideoReads {
  constructor(private readonly tasks: TaskReads) {}

  /**
   * The task of the video. Throws 404 `task_not_found` for unknown, foreign and malformed ids and for tasks of other kinds
   * alike, 400 `invalid_request` for another model than the video's (decisions G-52, G-59).
   */
  async get({ caller, id, model }: VideoReading): Promise<Task> {
    return videoOf(await this.tasks.get(caller, id), model);
  }

  /** {@link get}, after waiting for the video's end as long as the reader wants to (decision G-98). */
  async getAfterWait(reading: VideoReading, patience: Patience | undefined): Promise<AwaitedTask> {
    const task = await this.get(reading);
    return patience ? this.tasks.getAfterWait(reading.caller, reading.id, patience) : { task };
  }
}

function videoOf(task: Task, model: string | undefined): Task {
  if (task.kind !== VIDEO_KIND) throw noTask();
  if (model === undefined || model === task.model) return task;
  throw new GatewayError('invalid_request', 'model is not that of the video.', { param: 'model' });
}
