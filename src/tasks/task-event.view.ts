import { ApiProperty } from '@nestjs/swagger';
import { toPublicId } from '../common/ids/public-id.js';
import type { Task } from './task.js';

/** Data of the events `status` and `progress` of a task. */
export class TaskStateView {
  @ApiProperty({ description: 'Id of the task' })
  id!: string;

  @ApiProperty({ enum: ['task_state'], description: 'Says what kind of object this is' })
  object!: 'task_state';

  @ApiProperty({ example: 'processing', description: 'As GET /v1/tasks/{id} says it' })
  status!: string;

  @ApiProperty({
    nullable: true,
    type: 'integer',
    example: 40,
    description: 'Percent; null where the provider reports none',
  })
  progress!: number | null;
}

/** The state of a task, with the word for its status that its own view has. */
export function viewTaskState(task: Task, view: object): TaskStateView {
  const { status } = view as { readonly status?: unknown };
  return {
    id: toPublicId('task', task.id),
    object: 'task_state',
    status: typeof status === 'string' ? status : task.status,
    progress: task.progress,
  };
}
