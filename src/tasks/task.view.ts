import { ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { toPublicId } from '../common/ids/public-id.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { pageOfViews } from '../common/paging/page.view.js';
import { toEpochSeconds } from '../common/time/clock.js';
import { orderedModelOf, type Task, type TaskModality, type TaskStatus } from './task.js';

/** Videos have a view of their own. */
type ViewedModality = Exclude<TaskModality, 'video'>;

/** Every status of a task, as clients see it. */
export const TASK_STATUSES = [
  'queued',
  'processing',
  'succeeded',
  'failed',
  'expired',
  'reconciliation_required',
] as const satisfies readonly TaskStatus[];

/** Why a task failed. */
export class TaskErrorView {
  @ApiProperty({ example: 'provider_task_failed', description: 'Code of the error' })
  code!: string;

  @ApiProperty({ description: 'The reason in words' })
  message!: string;
}

/** What an operator gave back of a task's charge. A task of which nothing was has no field of it, as the API describes tasks. */
export class TaskRefundField {
  @ApiProperty({
    required: false,
    nullable: true,
    type: String,
    example: '15000',
    description: 'Micro-USD that an operator gave back; absent if nothing was',
  })
  refunded_microusd?: string | null;
}

/** The field of a task of which something was given back. */
export function viewTaskRefund({ refundedMicroUsd: refunded }: Task): TaskRefundField {
  return refunded === null ? {} : { refunded_microusd: formatMicroUsd(refunded) };
}

/** What every audio task has but its result, whose shape depends on the kind. */
export class TaskFields extends TaskRefundField {
  @ApiProperty({ example: 'task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a', description: 'Id of the task' })
  id!: string;

  @ApiProperty({ enum: ['task'], description: 'Says what kind of object this is' })
  object!: 'task';

  @ApiProperty({
    enum: TASK_STATUSES,
    description:
      'State of the task. `succeeded`, `failed` and `expired` are final; `reconciliation_required` waits for an operator',
  })
  status!: TaskStatus;

  @ApiProperty({ example: 'song-music', description: 'Id of the model, as it was ordered' })
  model!: string;

  @ApiProperty({ enum: ['audio', 'image', 'text'], description: 'What kind of work it is' })
  modality!: ViewedModality;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    minimum: 0,
    maximum: 100,
    description: 'Per cent of the work that is done; null where the provider does not tell',
  })
  progress!: number | null;

  @ApiProperty({ nullable: true, type: TaskErrorView, description: 'Null unless failed' })
  error!: TaskErrorView | null;

  @ApiProperty({ example: '15000', description: 'Micro-USD held at submission' })
  reserved_microusd!: string;

  @ApiProperty({
    nullable: true,
    type: String,
    example: '15000',
    description: 'Null until settled',
  })
  charged_microusd!: string | null;

  @ApiProperty({ description: 'Epoch seconds' })
  created_at!: number;

  @ApiProperty({ nullable: true, type: Number, description: 'Epoch seconds; null until final' })
  completed_at!: number | null;
}

/** The result of any audio task: {@link AUDIO_TASK_RESULT} in the document. */
class AudioTaskResult {}

/** OpenAPI: `AudioTaskResult`. */
export const AUDIO_TASK_RESULT = {
  anyOf: [
    { $ref: getSchemaPath('SongResultView') },
    { $ref: getSchemaPath('DubbingResultView') },
    { $ref: getSchemaPath('ResponseTaskResultView') },
    { $ref: getSchemaPath('CallResultView') },
  ],
};

/** A task (API: Task object). The modules of its kinds describe their results. */
export class TaskView extends TaskFields {
  @ApiProperty({
    nullable: true,
    type: AudioTaskResult,
    description: 'Null until success; that of a dub has `content_path`',
  })
  result!: object | null;
}

/** OpenAPI: a task of any kind. Videos have a different view, which their module describes (decision G-56). */
export const ANY_TASK = anyModality(getSchemaPath(TaskView), getSchemaPath('VideoTaskView'));

/**
 * OpenAPI: one of these schemas. No field has one value in each: the task of a video is the example of the API word for
 * word, so clients ask whether it has `created_at` (decision G-56).
 */
export function anyModality(audio: string, video: string) {
  return { oneOf: [{ $ref: audio }, { $ref: video }] };
}

/** A page of tasks. */
export class TaskPage extends pageOfViews(TaskView) {
  @ApiProperty({ type: 'array', items: ANY_TASK })
  declare data: TaskView[];
}

/** The task object of every audio task. Kinds differ only inside `result` (API: Task object). */
export function viewTask(task: Task, modality: ViewedModality = 'audio'): TaskView {
  const { chargedMicroUsd, completedAt } = task;
  return {
    id: toPublicId('task', task.id),
    object: 'task',
    status: task.status,
    model: orderedModelOf(task),
    modality,
    progress: task.progress,
    result: task.result,
    error: task.error && { code: task.error.code, message: task.error.message },
    reserved_microusd: formatMicroUsd(task.reservedMicroUsd),
    charged_microusd: chargedMicroUsd === null ? null : formatMicroUsd(chargedMicroUsd),
    ...viewTaskRefund(task),
    created_at: toEpochSeconds(task.createdAt),
    completed_at: completedAt === null ? null : toEpochSeconds(completedAt),
  };
}

/** The task in a session of a portal link. It has no content, for whoever makes a link can open it too. */
export const withoutContent = (view: object): object =>
  'result' in view ? { ...view, result: null } : view;
