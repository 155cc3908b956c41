import { ApiProperty } from '@nestjs/swagger';
import { toPublicId } from '../common/ids/public-id.js';
import { usdOf } from '../common/money/micro-usd.js';
import { toEpochSeconds } from '../common/time/clock.js';
import type { ContentLinks } from '../tasks/content-links/content-links.js';
import { orderedModelOf, type Task } from '../tasks/task.js';
import { TaskErrorView, TaskRefundField, viewTaskRefund } from '../tasks/task.view.js';
import {
  videoDetailsOf,
  RETENTION_SECONDS,
  VIDEO_STATUS,
  VIDEO_STATUSES,
  videoErrorOf,
  type VideoStatus,
} from './video-details.js';
import { endOf } from './video.view.js';

/** The file of a completed video. */
export class VideoFileView {
  @ApiProperty({
    type: [String],
    description: 'Where to fetch it, without a key, until it expires',
  })
  url!: string[];

  @ApiProperty({ description: 'Epoch seconds; it is kept until then' })
  expires_at!: number;
}

/** What a completed video is. */
export class VideoResultView {
  @ApiProperty({ type: [VideoFileView], description: 'Empty where no file was stored' })
  videos!: VideoFileView[];
}

/**
 * The task object in the webhook of a video and in the response to GET /v1/tasks/{video id} (API: Webhook events;
 * decision G-56).
 */
export class VideoTaskView extends TaskRefundField {
  @ApiProperty({ example: 'task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a', description: 'Id of the task' })
  id!: string;

  @ApiProperty({ enum: ['task'], description: 'Says what kind of object this is' })
  object!: 'task';

  @ApiProperty({ enum: VIDEO_STATUSES, description: 'State of the video' })
  status!: VideoStatus;

  @ApiProperty({ example: 'vid-motion', description: 'Id of the model, as it was ordered' })
  model!: string;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description: 'Per cent of the work that is done; null where the provider does not tell',
  })
  progress!: number | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created!: number;

  @ApiProperty({ nullable: true, type: Number, description: 'Epoch seconds; null until the end' })
  completed!: number | null;

  @ApiProperty({ nullable: true, type: Number, description: 'USD charged; null until the end' })
  cost!: number | null;

  @ApiProperty({ nullable: true, type: VideoResultView, description: 'Null unless completed' })
  result!: VideoResultView | null;

  @ApiProperty({ nullable: true, type: TaskErrorView, description: 'Null unless failed' })
  error!: TaskErrorView | null;
}

/** The task object of a video, with the states of the video surface. */
export function viewVideoTask(task: Task, links: ContentLinks): VideoTaskView {
  const status = VIDEO_STATUS[task.status];
  const completed = endOf(task);
  return {
    id: toPublicId('task', task.id),
    object: 'task',
    status,
    model: orderedModelOf(task),
    progress: task.progress,
    created: toEpochSeconds(task.createdAt),
    completed,
    cost: completed === null ? null : usdOf(task.chargedMicroUsd ?? 0n),
    result: status === 'completed' && completed !== null ? resultOf(task, completed, links) : null,
    error: videoErrorOf(task),
    ...viewTaskRefund(task),
  };
}

function resultOf(task: Task, completed: number, links: ContentLinks): VideoResultView {
  const { gatewayUrl } = videoDetailsOf(task);
  const expiresAt = completed + RETENTION_SECONDS;
  const url = links.urlOf(task, { surface: 'videos', expiresAt, gatewayUrl });
  const video = { url: [url], expires_at: expiresAt };
  // An operator may have settled a video whose file was never stored.
  return { videos: task.content === null ? [] : [video] };
}
