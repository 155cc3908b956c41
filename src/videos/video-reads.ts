import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Caller } from '../auth/caller.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { noTask, TaskReads } from '../tasks/reads/task-reads.js';
import type { Task } from '../tasks/task.js';
import { VIDEO_KIND } from './video.kind.js';
import { type VideoView, viewVideo } from './video.view.js';

/** What SDKs wait between two polls (spec: every 10 to 20 seconds). */
const POLL_AFTER_MS = 10_000;
const POLL_AFTER_HEADER = 'openai-poll-after-ms';

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

  /** The video, after waiting as the request's `Prefer` asks; the head says when to ask again. Throws as {@link get}. */
  async view(reading: VideoReading, request: Request, response: Response): Promise<VideoView> {
    const video = viewVideo(await this.latest(reading, request, response));
    const isOpen = video.status === 'queued' || video.status === 'in_progress';
    if (isOpen) response.setHeader(POLL_AFTER_HEADER, String(POLL_AFTER_MS));
    return video;
  }

  private async latest(reading: VideoReading, request: Request, response: Response): Promise<Task> {
    const task = await this.get(reading);
    if (request.get('prefer') === undefined) return task;
    return this.tasks.getAsPreferred(reading.caller, reading.id, request, response);
  }
}

function videoOf(task: Task, model: string | undefined): Task {
  if (task.kind !== VIDEO_KIND) throw noTask();
  if (model === undefined || model === task.model) return task;
  throw new GatewayError('invalid_request', 'model is not that of the video.', { param: 'model' });
}
