import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { toPublicId } from '../common/ids/public-id.js';
import { toEpochSeconds } from '../common/time/clock.js';
import { TaskErrorView } from '../tasks/task.view.js';
import { orderedModelOf, type Task } from '../tasks/task.js';
import {
  videoDetailsOf,
  RETENTION_SECONDS,
  VIDEO_STATUS,
  VIDEO_STATUSES,
  videoErrorOf,
  type VideoStatus,
} from './video-details.js';

/** A video, as POST and GET /v1/videos return it (decision G-57). */
export class VideoView {
  @ApiProperty({ example: 'task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a', description: 'Id of the task' })
  id!: string;

  @ApiProperty({ enum: ['video'], description: 'Says what kind of object this is' })
  object!: 'video';

  @ApiProperty({ example: 'vid-motion', description: 'Id of the model, as it was ordered' })
  model!: string;

  @ApiProperty({ enum: VIDEO_STATUSES, description: 'State of the video' })
  status!: VideoStatus;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description: 'Per cent of the work that is done; null where the provider does not tell',
  })
  progress!: number | null;

  @ApiProperty({ description: 'Length in seconds, as sent', example: '5' })
  seconds!: string;

  @ApiProperty({ required: false, description: 'As sent; absent where it was not' })
  size?: string;

  @ApiPropertyOptional({
    example: '720p',
    description: 'As sent, or that of the model; absent where it lets you choose none',
  })
  resolution?: string;

  @ApiPropertyOptional({
    description: 'Whether it has sound; absent where the model does not let you choose',
  })
  audio?: boolean;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;

  @ApiProperty({ nullable: true, type: Number, description: 'Epoch seconds; null until the end' })
  completed_at!: number | null;

  @ApiProperty({
    nullable: true,
    type: Number,
    description: 'Epoch seconds; the file is kept until then. Null unless completed',
  })
  expires_at!: number | null;

  @ApiProperty({ nullable: true, type: TaskErrorView, description: 'Null unless failed' })
  error!: TaskErrorView | null;
}

/** The video object of a task. */
export function viewVideo(task: Task): VideoView {
  const { seconds, size, resolution, sound } = videoDetailsOf(task);
  const status = VIDEO_STATUS[task.status];
  const completedAt = endOf(task);
  return {
    id: toPublicId('task', task.id),
    object: 'video',
    model: orderedModelOf(task),
    status,
    progress: task.progress,
    seconds,
    ...(size !== null && { size }),
    ...(resolution !== undefined && { resolution }),
    ...(sound !== undefined && { audio: sound }),
    created_at: toEpochSeconds(task.createdAt),
    completed_at: completedAt,
    expires_at:
      completedAt !== null && status === 'completed' ? completedAt + RETENTION_SECONDS : null,
    error: videoErrorOf(task),
  };
}

/** When the video was completed or failed, in epoch seconds; null before. */
export function endOf({ status, completedAt }: Task): number | null {
  const isOver = ['completed', 'failed'].includes(VIDEO_STATUS[status]);
  return isOver && completedAt !== null ? toEpochSeconds(completedAt) : null;
}
